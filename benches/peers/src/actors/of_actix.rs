//! actix: an actor and all who send to it on one arbiter, a thread with a runtime of its own.
//!
//! An actor stays on its arbiter. With one producer or both on another one, a message took 310 or 500
//! ns in place of 69; with the client on another one, an answer took 36 µs in place of 0.2.

use super::{BATCH, Call, Post, one_client};
use actix::{Actor, Addr, Arbiter, ArbiterHandle, Context, Handler, Message, System};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

struct Counter {
    sum: u64,
}

struct Add;
struct AddAndTell;
struct Take;

impl Message for Add {
    type Result = ();
}

impl Message for AddAndTell {
    type Result = u64;
}

impl Message for Take {
    type Result = u64;
}

impl Actor for Counter {
    type Context = Context<Self>;
}

impl Handler<Add> for Counter {
    type Result = ();

    fn handle(&mut self, _: Add, _: &mut Context<Self>) {
        self.sum += 1;
    }
}

impl Handler<AddAndTell> for Counter {
    type Result = u64;

    fn handle(&mut self, _: AddAndTell, _: &mut Context<Self>) -> u64 {
        self.sum += 1;
        self.sum
    }
}

impl Handler<Take> for Counter {
    type Result = u64;

    fn handle(&mut self, _: Take, _: &mut Context<Self>) -> u64 {
        std::mem::take(&mut self.sum)
    }
}

/// The actor, and its arbiter.
struct Started {
    actor: Addr<Counter>,
    arbiter: ArbiterHandle,
}

fn start() -> Started {
    let (send, started) = channel();
    thread::spawn(move || {
        let system = System::new();
        let arbiter = Arbiter::new().handle();
        let actor = Counter::start_in_arbiter(&arbiter, |_| Counter { sum: 0 });
        send.send(Started { actor, arbiter }).expect("the caller waits");
        system.run().expect("the system ends with the process");
    });
    started.recv().expect("the system starts")
}

impl Started {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        assert!(self.arbiter.spawn(task), "the arbiter lives");
    }

    fn take(&self) -> u64 {
        let (answer, answered) = channel();
        let actor = self.actor.clone();
        self.spawn(async move {
            let sum = actor.send(Take).await.expect("the actor answers");
            answer.send(sum).expect("the caller waits");
        });
        answered.recv().expect("the task ends")
    }
}

/// Waits until every task has dropped its sender.
fn all_done((sender, receiver): (Sender<()>, Receiver<()>)) {
    drop(sender);
    assert!(receiver.recv().is_err(), "nobody sends");
}

pub(super) fn post() -> Post {
    let started = start();
    Box::new(move |count| {
        let done = channel();
        for count in [count / 2, count - count / 2] {
            let (actor, done) = (started.actor.clone(), done.0.clone());
            started.spawn(async move {
                for sent in 1..=count {
                    actor.do_send(Add);
                    if sent % BATCH == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                drop(done);
            });
        }
        all_done(done);
        started.take()
    })
}

pub(super) fn call() -> Call {
    let started = start();
    Box::new(move |clients, each| {
        let done = channel();
        for _ in 0..clients {
            let (actor, done) = (started.actor.clone(), done.0.clone());
            started.spawn(async move {
                let ask = || async { actor.send(AddAndTell).await.expect("the actor answers") };
                one_client(each, ask).await;
                drop(done);
            });
        }
        all_done(done);
        started.take()
    })
}
