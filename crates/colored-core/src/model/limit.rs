//! A semaphore with a line: no task waits while there is room, and none waits for ever.

use super::doubles::Witness;
use super::pool::{Flag, pool, start};
use super::{check, check_within};
use crate::color::Color;
use crate::limit::Limit;
use crate::limit::delay::Delay;
use crate::limit::semaphore::{Kept, Semaphore, Waited};
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

/// Waits until it is inside; false if the semaphore was closed before.
fn enter(semaphore: &Semaphore) -> bool {
    let (flag, waker) = signal();
    let mut waited = semaphore.enter_or_wait(&waker, |_| Kept::default());
    loop {
        match waited {
            Waited::Entered => return true,
            Waited::Closed => return false,
            Waited::Deadlock(_) => unreachable!("nothing is recorded"),
            Waited::Waits(waiter) => {
                flag.wait();
                waited = semaphore.look(waiter, &waker, |_| Kept::default());
            }
        }
    }
}

fn assert_empty(semaphore: &Semaphore) {
    assert_eq!((semaphore.inside(), semaphore.waiting()), (0, 0));
    assert!(semaphore.is_closed() || semaphore.try_enter().is_ok(), "it has room again");
}

/// With one permit a semaphore is a lock: its holders exclude each other, and see what the holder before did.
#[test]
fn three_through_one_permit() {
    check_within(2, || {
        let (semaphore, witness) = (Arc::new(Semaphore::new(1)), Arc::new(Witness::new()));
        let threads = [1, 2].map(|mark| {
            let (semaphore, witness) = (Arc::clone(&semaphore), Arc::clone(&witness));
            thread::spawn(move || {
                assert!(enter(&semaphore));
                witness.note(mark);
                semaphore.leave();
            })
        });
        assert!(enter(&semaphore));
        witness.note(3);
        semaphore.leave();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(witness.marks().len(), 3);
        assert_empty(&semaphore);
    });
}

/// The last permit is given back while a waiter goes into the line.
#[test]
fn wait_against_release() {
    check(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        assert!(semaphore.try_enter().is_ok());
        let other = Arc::clone(&semaphore);
        let waiter = thread::spawn(move || {
            assert!(enter(&other));
            other.leave();
        });
        semaphore.leave();
        waiter.join().unwrap();
        assert_empty(&semaphore);
    });
}

/// Two holders leave while one task waits: one of the permits is handed on, the other is free.
#[test]
fn wait_against_two_releases() {
    check_within(2, || {
        let semaphore = Arc::new(Semaphore::new(2));
        assert!(semaphore.try_enter().is_ok() && semaphore.try_enter().is_ok());
        let (waits, leaves) = (Arc::clone(&semaphore), Arc::clone(&semaphore));
        let waiter = thread::spawn(move || assert!(enter(&waits)));
        let leaver = thread::spawn(move || leaves.leave());
        semaphore.leave();
        waiter.join().unwrap();
        leaver.join().unwrap();
        assert_eq!((semaphore.inside(), semaphore.waiting()), (1, 0));
        assert!(semaphore.try_enter().is_ok(), "the other permit");
        assert!(semaphore.try_enter().is_err(), "and no third");
    });
}

/// A waiter is admitted or dismissed, and in either case woken; no waiter is counted before it is admitted.
#[test]
fn wait_against_close_and_release() {
    check_within(2, || {
        let semaphore = Arc::new(Semaphore::new(1));
        assert!(semaphore.try_enter().is_ok());
        let (waits, leaves) = (Arc::clone(&semaphore), Arc::clone(&semaphore));
        let waiter = thread::spawn(move || {
            if enter(&waits) {
                waits.leave();
            }
        });
        let leaver = thread::spawn(move || leaves.leave());
        semaphore.close();
        waiter.join().unwrap();
        leaver.join().unwrap();
        assert_empty(&semaphore);
        assert!(!enter(&semaphore), "closed for whoever comes later");
    });
}

/// A waiter is dropped while it is called: the permit goes to the next waiter.
#[test]
fn a_waiter_that_goes_against_its_call() {
    check_within(2, || {
        let semaphore = Arc::new(Semaphore::new(1));
        assert!(semaphore.try_enter().is_ok());
        let Waited::Waits(waiter) = semaphore.enter_or_wait(Waker::noop(), |_| Kept::default())
        else {
            panic!("it is full")
        };
        let (waits, goes) = (Arc::clone(&semaphore), Arc::clone(&semaphore));
        let next = thread::spawn(move || {
            assert!(enter(&waits));
            waits.leave();
        });
        let first = thread::spawn(move || goes.cancel(waiter));
        semaphore.leave();
        first.join().unwrap();
        next.join().unwrap();
        assert_empty(&semaphore);
    });
}

/// A holder that was admitted over the capacity leaves: its permit goes to no waiter until there is room.
#[test]
fn over_the_capacity() {
    check_within(2, || {
        let semaphore = Arc::new(Semaphore::new(1));
        let witness = Arc::new(Witness::new());
        assert!(semaphore.try_enter().is_ok() && semaphore.enter_over().is_ok());
        let (waits, leaves) = (Arc::clone(&semaphore), Arc::clone(&semaphore));
        let (seen, inside) = (Arc::clone(&witness), Arc::clone(&witness));
        let waiter = thread::spawn(move || {
            assert!(enter(&waits));
            // Both have left: so no more are inside than the capacity.
            seen.touch();
            waits.leave();
        });
        let leaver = thread::spawn(move || leaves.leave());
        leaver.join().unwrap();
        inside.touch();
        semaphore.leave();
        waiter.join().unwrap();
        assert_empty(&semaphore);
    });
}

/// Two tasks come into a queue that has been empty since 5: no look sees a waiter in it together with that old time.
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

/// Tasks under a limit, with a worker: the end of the first gives its permit back, and the second is admitted then.
#[test]
fn a_task_that_ends_against_a_spawn_that_waits() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let limit = Limit::new_in(&handle, Color::new(1), 1);
        assert!(limit.try_spawn(async {}).is_ok());
        let worker = start(workers.remove(0), &beds);
        let (flag, waker) = signal();
        let done = Flag::new();
        let set = Arc::clone(&done);
        let mut spawn = pin!(limit.spawn(async move { set.set() }));
        while let Poll::Pending = spawn.as_mut().poll(&mut Context::from_waker(&waker)) {
            flag.wait();
        }
        done.wait();
        handle.scheduler().shut_down();
        worker.join().unwrap();
        assert_eq!(limit.depth(), 0);
    });
}

/// A task that can leave under the color only ends, and another holder takes its room. A holder of that permit is not
/// mistaken for the task, and so not said to wait for the color.
#[test]
fn an_end_under_the_color_against_who_comes_in() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        handle.scheduler().expect_sections();
        let limit = Limit::new_in(&handle, Color::new(1), 1);
        assert!(limit.try_spawn(async {}).is_ok());
        assert!(limit.ways().is_some_and(|ways| ways.by_color));
        let worker = start(workers.remove(0), &beds);
        let (flag, waker) = signal();
        let mut reserve = pin!(limit.reserve());
        let permit = loop {
            match reserve.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(permit) => break permit,
                Poll::Pending => flag.wait(),
            }
        };
        assert!(limit.ways().is_none(), "its room may come any time");
        drop(permit);
        handle.scheduler().shut_down();
        worker.join().unwrap();
        assert_eq!(limit.depth(), 0);
    });
}
