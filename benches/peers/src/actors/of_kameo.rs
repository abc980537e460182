//! kameo, on tokio.

use super::{Call, Post, clients, produce};
use crate::executors::Executor;
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::mailbox;
use kameo::message::{Context, Message};
use std::convert::Infallible;

struct Counter {
    sum: u64,
}

struct Add;
struct AddAndTell;
struct Take;

impl Actor for Counter {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(counter: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(counter)
    }
}

impl Message<Add> for Counter {
    type Reply = ();

    async fn handle(&mut self, _: Add, _: &mut Context<Self, ()>) {
        self.sum += 1;
    }
}

impl Message<AddAndTell> for Counter {
    type Reply = u64;

    async fn handle(&mut self, _: AddAndTell, _: &mut Context<Self, u64>) -> u64 {
        self.sum += 1;
        self.sum
    }
}

impl Message<Take> for Counter {
    type Reply = u64;

    async fn handle(&mut self, _: Take, _: &mut Context<Self, u64>) -> u64 {
        std::mem::take(&mut self.sum)
    }
}

fn start(on: impl Executor) -> &'static ActorRef<Counter> {
    let start = async { Counter::spawn_with_mailbox(Counter { sum: 0 }, mailbox::unbounded()) };
    Box::leak(Box::new(on.run(start)))
}

async fn take(actor: &ActorRef<Counter>) -> u64 {
    actor.ask(Take).await.expect("the actor answers")
}

pub(super) fn post(on: impl Executor) -> Post {
    let actor = start(on);
    Box::new(move |count| {
        on.run(async move {
            produce(on, count, || actor.tell(Add).try_send().expect("the actor lives")).await;
            take(actor).await
        })
    })
}

pub(super) fn call(on: impl Executor) -> Call {
    let actor = start(on);
    let ask = || async { actor.ask(AddAndTell).await.expect("the actor answers") };
    Box::new(move |count, each| {
        on.run(async move {
            clients(on, count, each, ask).await;
            take(actor).await
        })
    })
}
