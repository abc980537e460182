//! A lane between its producers, the worker that runs it, and a thief.

use super::doubles::{HopTo, Port, Turns, Witness, gate, lane, post, run_beside, scene, spawn};
use super::{check, check_within};
use crate::kernel::lane::{current, push};
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A push that meets a lane about to become idle is run, by one of the two threads.
#[test]
fn push_against_idle() {
    check(|| {
        let (port, lane, witness) = scene();
        post(&lane, &witness, 1);
        let thread = run_beside(&port, || ());
        post(&lane, &witness, 2);
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        assert_eq!(witness.marks(), [1, 2]);
    });
}

/// The thread that gives the last reference back frees the lane, and no thread uses it afterwards.
/// Shows G5.
#[test]
fn push_against_the_last_reference() {
    check(|| {
        let (port, lane, witness) = scene();
        let runner = Arc::clone(&port);
        post(&lane, &witness, 1);
        let thread = thread::spawn(move || runner.run_all());
        post(&lane, &witness, 2);
        drop(lane);
        thread.join().unwrap();
        port.run_all();
        assert_eq!(witness.marks(), [1, 2]);
    });
}

/// Two threads push. A third runs one turn at a time and puts the lane back, and the first thread
/// that comes takes it from there: exclusion, and the order of each producer.
/// Shows G1, G2.
#[test]
fn two_producers_one_runner_one_thief() {
    check_within(2, || {
        let (port, lane, witness) = scene();
        post(&lane, &witness, 0);
        let pusher = {
            let (lane, witness, port) = (lane.clone(), Arc::clone(&witness), Arc::clone(&port));
            thread::spawn(move || {
                post(&lane, &witness, 1);
                port.run_one(Turns::One);
            })
        };
        let runner = Arc::clone(&port);
        let runner = thread::spawn(move || {
            runner.run_one(Turns::One);
        });
        post(&lane, &witness, 2);
        post(&lane, &witness, 3);
        pusher.join().unwrap();
        runner.join().unwrap();
        port.run_all();
        let marks = witness.marks();
        let place = |mark| marks.iter().position(|own| *own == mark).expect("it ran");
        assert_eq!(marks.len(), 4);
        assert!(place(0) < place(2) && place(2) < place(3));
    });
}

/// Goes to the end of the queue once.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        assert!(current::task().is_some_and(current::mark_yielded));
        Poll::Pending
    }
}

/// A task that goes behind all others, while others come and its lane changes threads.
/// Shows G2.
#[test]
fn rotate_against_push() {
    check(|| {
        let (port, lane, witness) = scene();
        let join = spawn(&lane, Yield(false));
        let runner = Arc::clone(&port);
        let thread = thread::spawn(move || {
            runner.run_one(Turns::One);
            runner.run_one(Turns::Endless);
        });
        post(&lane, &witness, 1);
        post(&lane, &witness, 2);
        thread.join().unwrap();
        port.run_all();
        assert!(join.is_finished());
        assert_eq!(witness.marks(), [1, 2]);
    });
}

/// A task that waits is woken, while a callback runs on its lane: they exclude each other.
/// Shows G1.
#[test]
fn wake_against_another_turn() {
    check(|| {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let seen = Arc::clone(&witness);
        let join = spawn(&lane, async move {
            seen.touch();
            wait.await;
            seen.touch();
        });
        let thread = run_beside(&port, || ());
        gate.open();
        post(&lane, &witness, 1);
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        assert!(join.is_finished(), "the wake-up was lost");
        assert_eq!(witness.marks().len(), 3);
    });
}

/// A task moves to another lane while it is woken: it is in one of the two, once, and both lanes
/// are gone afterwards.
/// Shows G1.
#[test]
fn hop_against_wake() {
    check_within(2, || {
        let port = Port::new();
        let (from, to) = (lane(&port), lane(&port));
        let (gate, wait) = gate();
        let witness = Witness::new();
        let seen = Arc::clone(&witness);
        let target = to.clone();
        let join = spawn(&from, async move {
            // It leaves a waker behind, so that the wake-up may come at any point of the move.
            let mut wait = wait;
            let first = std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut wait).poll(cx))).await;
            HopTo(target).await;
            seen.touch();
            if first.is_pending() {
                wait.await;
            }
        });
        drop(from);
        let thread = run_beside(&port, move || gate.open());
        post(&to, &witness, 1);
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        assert!(join.is_finished(), "the wake-up was lost");
        assert_eq!(witness.marks().len(), 2);
    });
}

/// A task moves while it is aborted.
/// Shows G1, G8.
#[test]
fn hop_against_abort() {
    check_within(2, || {
        let port = Port::new();
        let (from, to) = (lane(&port), lane(&port));
        let (gate, wait) = gate();
        let mut join = spawn(&from, async move {
            HopTo(to).await;
            wait.await;
        });
        drop(from);
        let abort = join.abort_handle();
        let thread = run_beside(&port, move || abort.abort());
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        let error = join.try_take().expect("the abort was lost").expect_err("nobody opened");
        assert!(error.is_cancelled());
        drop(gate);
    });
}

/// Two tasks of one lane complete on two threads, one after the other: each gives its reference
/// back after it has given the lane away, and the later one frees it.
#[test]
fn two_releases_after_idle() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let (gate, wait) = gate();
        drop(spawn(&lane, wait));
        drop(spawn(&lane, async {}));
        drop(lane);
        let thread = run_beside(&port, || ());
        gate.open();
        port.run_all();
        thread.join().unwrap();
        port.run_all();
    });
}

/// References that a holder takes to its own lane and gives to another thread may come back before
/// its slice ends, and before it has given its own one back.
#[test]
fn references_escape_their_slice() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let sent = Arc::new(Mutex::new(Vec::new()));
        let (out, own) = (Arc::clone(&sent), lane.clone());
        push::post(&lane, move || {
            out.lock().extend([own.clone(), own.clone()]);
            drop(own);
        });
        drop(lane);
        let taker = Arc::clone(&sent);
        let thread = thread::spawn(move || {
            let taken = std::mem::take(&mut *taker.lock());
            drop(taken);
        });
        port.run_all();
        thread.join().unwrap();
    });
}
