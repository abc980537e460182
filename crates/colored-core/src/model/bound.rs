//! A gate with a line: nobody waits while there is room, and nobody for ever.

use super::doubles::Witness;
use super::pool::{Flag, pool, start};
use super::{check, check_within};
use crate::bound::Bound;
use crate::bound::delay::Delay;
use crate::bound::gate::{Gate, Kept, Waited};
use crate::color::Color;
use crate::sync::Arc;
use loom::thread;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

/// Wakes a thread.
struct Signal(Arc<Flag>);

impl Wake for Signal {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.set();
    }
}

fn signal() -> (Arc<Flag>, Waker) {
    let flag = Flag::new();
    (Arc::clone(&flag), Waker::from(std::sync::Arc::new(Signal(flag))))
}

/// Waits until it is inside; false if the gate was closed before.
fn enter(gate: &Gate) -> bool {
    let (flag, waker) = signal();
    let mut waited = gate.enter_or_wait(&waker, |_| Kept::default());
    loop {
        match waited {
            Waited::Entered => return true,
            Waited::Closed => return false,
            Waited::Deadlock(_) => unreachable!("nothing is recorded"),
            Waited::Waits(ticket) => {
                flag.wait();
                waited = gate.look(ticket, &waker, |_| Kept::default());
            }
        }
    }
}

fn assert_empty(gate: &Gate) {
    assert_eq!((gate.inside(), gate.waiting()), (0, 0));
    assert!(gate.is_closed() || gate.try_enter().is_ok(), "it has room again");
}

/// With one place a gate is a lock: those inside exclude each other, and see what the one before did.
#[test]
fn three_through_one_place() {
    check_within(2, || {
        let (gate, witness) = (Arc::new(Gate::new(1)), Arc::new(Witness::new()));
        let threads = [1, 2].map(|mark| {
            let (gate, witness) = (Arc::clone(&gate), Arc::clone(&witness));
            thread::spawn(move || {
                assert!(enter(&gate));
                witness.note(mark);
                gate.leave();
            })
        });
        assert!(enter(&gate));
        witness.note(3);
        gate.leave();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(witness.marks().len(), 3);
        assert_empty(&gate);
    });
}

/// The last place is given back while somebody goes into the line.
#[test]
fn wait_against_release() {
    check(|| {
        let gate = Arc::new(Gate::new(1));
        assert!(gate.try_enter().is_ok());
        let other = Arc::clone(&gate);
        let waiter = thread::spawn(move || {
            assert!(enter(&other));
            other.leave();
        });
        gate.leave();
        waiter.join().unwrap();
        assert_empty(&gate);
    });
}

/// Two leave while one waits: one of the places is handed on, the other is free.
#[test]
fn wait_against_two_releases() {
    check_within(2, || {
        let gate = Arc::new(Gate::new(2));
        assert!(gate.try_enter().is_ok() && gate.try_enter().is_ok());
        let (waits, leaves) = (Arc::clone(&gate), Arc::clone(&gate));
        let waiter = thread::spawn(move || assert!(enter(&waits)));
        let leaver = thread::spawn(move || leaves.leave());
        gate.leave();
        waiter.join().unwrap();
        leaver.join().unwrap();
        assert_eq!((gate.inside(), gate.waiting()), (1, 0));
        assert!(gate.try_enter().is_ok(), "the other place");
        assert!(gate.try_enter().is_err(), "and no third");
    });
}

/// A waiter is let in or dismissed, and in either case woken; nobody is counted who has not come in.
#[test]
fn wait_against_close_and_release() {
    check_within(2, || {
        let gate = Arc::new(Gate::new(1));
        assert!(gate.try_enter().is_ok());
        let (waits, leaves) = (Arc::clone(&gate), Arc::clone(&gate));
        let waiter = thread::spawn(move || {
            if enter(&waits) {
                waits.leave();
            }
        });
        let leaver = thread::spawn(move || leaves.leave());
        gate.close();
        waiter.join().unwrap();
        leaver.join().unwrap();
        assert_empty(&gate);
        assert!(!enter(&gate), "closed for whoever comes later");
    });
}

/// A waiter goes away while it is called: the place goes on to the next.
#[test]
fn a_waiter_that_goes_against_its_call() {
    check_within(2, || {
        let gate = Arc::new(Gate::new(1));
        assert!(gate.try_enter().is_ok());
        let Waited::Waits(ticket) = gate.enter_or_wait(Waker::noop(), |_| Kept::default()) else {
            panic!("it is full")
        };
        let (waits, goes) = (Arc::clone(&gate), Arc::clone(&gate));
        let next = thread::spawn(move || {
            assert!(enter(&waits));
            waits.leave();
        });
        let first = thread::spawn(move || goes.cancel(ticket));
        gate.leave();
        first.join().unwrap();
        next.join().unwrap();
        assert_empty(&gate);
    });
}

/// One who is let in over the capacity leaves: its place is nobody's, until there is room.
#[test]
fn over_the_capacity() {
    check_within(2, || {
        let gate = Arc::new(Gate::new(1));
        let witness = Arc::new(Witness::new());
        assert!(gate.try_enter().is_ok() && gate.enter_over().is_ok());
        let (waits, leaves) = (Arc::clone(&gate), Arc::clone(&gate));
        let (seen, inside) = (Arc::clone(&witness), Arc::clone(&witness));
        let waiter = thread::spawn(move || {
            assert!(enter(&waits));
            // Both have left: with no more inside than the capacity, that is.
            seen.touch();
            waits.leave();
        });
        let leaver = thread::spawn(move || leaves.leave());
        leaver.join().unwrap();
        inside.touch();
        gate.leave();
        waiter.join().unwrap();
        assert_empty(&gate);
    });
}

/// Two come into a queue that has been empty since 5: nobody sees it with somebody in it, and that old.
#[test]
fn a_queue_that_begins_is_not_as_old_as_the_last() {
    check(|| {
        let delay = Arc::new(Delay::new());
        delay.scheduled(5);
        delay.begins(5, 5);
        let threads = [100, 101].map(|now| {
            let delay = Arc::clone(&delay);
            thread::spawn(move || delay.scheduled(now))
        });
        assert!(delay.at(101) <= 1);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(delay.queued(), 2);
        assert!([99, 100].contains(&delay.at(200)));
    });
}

/// Tasks under a bound, with a worker: the place of the first is given back by its end, and the
/// second is admitted then.
#[test]
fn a_task_that_ends_against_a_spawn_that_waits() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let bound = Bound::new_in(&handle, Color::new(1), 1);
        assert!(bound.try_spawn(async {}).is_ok());
        let worker = start(workers.remove(0), &beds);
        let (flag, waker) = signal();
        let done = Flag::new();
        let set = Arc::clone(&done);
        let mut spawn = pin!(bound.spawn(async move { set.set() }));
        while let Poll::Pending = spawn.as_mut().poll(&mut Context::from_waker(&waker)) {
            flag.wait();
        }
        done.wait();
        handle.scheduler().shut_down();
        worker.join().unwrap();
        assert_eq!(bound.depth(), 0);
    });
}

/// A task that can leave under the color only ends, and somebody else takes its room: who has that in
/// its hands is not mistaken for the task, and so not said to wait for the color.
#[test]
fn an_end_under_the_color_against_who_comes_in() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        handle.scheduler().expect_sections();
        let bound = Bound::new_in(&handle, Color::new(1), 1);
        assert!(bound.try_spawn(async {}).is_ok());
        assert!(bound.ways().is_some_and(|ways| ways.by_color));
        let worker = start(workers.remove(0), &beds);
        let (flag, waker) = signal();
        let mut reserve = pin!(bound.reserve());
        let place = loop {
            match reserve.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(place) => break place,
                Poll::Pending => flag.wait(),
            }
        };
        assert!(bound.ways().is_none(), "its room may come any time");
        drop(place);
        handle.scheduler().shut_down();
        worker.join().unwrap();
        assert_eq!(bound.depth(), 0);
    });
}
