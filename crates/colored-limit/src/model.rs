//! The models: every interleaving of two or three threads, through the code that ships.
//!
//! ```text
//! RUSTFLAGS="--cfg colored_loom" LOOM_MAX_PREEMPTIONS=3 \
//!     CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true cargo test -p colored-limit --release --lib model
//! ```
//!
//! A semaphore with a queue: no task waits while there is room, and none waits for ever. A lost wake-up is reported as
//! a deadlock, a missing order or exclusion as a [`Witness`] that counts too little, a reference that is never given
//! back as a leaked `Arc`. The models named `..._is_found` must fail.

use crate::delay::Delay;
use crate::limit::Limit;
use crate::semaphore::{Semaphore, Waited};
use colored_core::port::sync::{Arc, AtomicUsize, Ordering};
use colored_core::{Color, Park, Scheduler, Step, Worker};
use loom::model::Builder;
use loom::sync::{Condvar, Mutex};
use loom::thread;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

/// Runs `model` in every interleaving with at most three preemptions, or as many as
/// `LOOM_MAX_PREEMPTIONS` says.
fn check(model: impl Fn() + Send + Sync + 'static) {
    check_within(3, model);
}

/// As [`check`], for a model that is too large for three.
fn check_within(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&executions);
    let mut builder = Builder::new();
    let bound = builder.preemption_bound.map_or(preemptions, |bound| bound.min(preemptions));
    builder.preemption_bound = Some(bound);
    builder.max_branches = 20_000;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let executions = executions.load(Ordering::Relaxed);
    eprintln!("{executions} interleavings");
    assert!(executions > 1, "loom saw one interleaving only: it does not see the threads");
}

/// Counts by a load and a store. The count is too low if two threads count at once, or if one does not see what the
/// other has counted before.
struct Witness(AtomicUsize);

impl Witness {
    fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    fn touch(&self) {
        // Ordering: none, because the code under test has to order the calls.
        let seen = self.0.load(Ordering::Relaxed);
        self.0.store(seen + 1, Ordering::Relaxed);
    }

    /// Asserts the number of accesses, after all threads have ended.
    fn assert_touched(&self, times: usize) {
        assert_eq!(self.0.load(Ordering::Relaxed), times, "an access is not ordered");
    }
}

/// An event that one thread waits for.
struct Flag {
    set: Mutex<bool>,
    came: Condvar,
}

impl Flag {
    fn new() -> Arc<Self> {
        Arc::new(Self { set: Mutex::new(false), came: Condvar::new() })
    }

    fn set(&self) {
        *self.set.lock().expect("no model panics under a lock") = true;
        self.came.notify_one();
    }

    /// Waits, and clears it.
    fn wait(&self) {
        let mut set = self.set.lock().expect("no model panics under a lock");
        while !*set {
            set = self.came.wait(set).expect("no model panics under a lock");
        }
        *set = false;
    }
}

/// Where the only worker of a scheduler sleeps.
struct Bed(Arc<Flag>);

impl Park for Bed {
    fn unpark(&self, _: usize) {
        self.0.set();
    }

    fn now(&self) -> u64 {
        0
    }
}

/// A scheduler with one worker, and where that worker sleeps.
fn scheduler() -> (colored_core::SchedulerHandle, Worker, Arc<Flag>) {
    let flag = Flag::new();
    let (handle, mut workers) = Scheduler::with_workers(1, 7, Box::new(Bed(Arc::clone(&flag))));
    (handle, workers.remove(0), flag)
}

/// Runs a worker on a thread of its own until its scheduler has shut down.
fn start(mut worker: Worker, bed: Arc<Flag>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        loop {
            match worker.step() {
                Step::Ran => {}
                Step::Park(_) => bed.wait(),
                Step::Stopped => return,
            }
        }
    })
}

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
    let mut waited = semaphore.enter_or_wait(&waker, |_| None);
    loop {
        match waited {
            Waited::Entered => return true,
            Waited::Closed => return false,
            Waited::Deadlock(_) => unreachable!("nothing is recorded"),
            Waited::Waits(waiter) => {
                flag.wait();
                waited = semaphore.look(waiter, &waker, |_| None);
            }
        }
    }
}

fn assert_empty(semaphore: &Semaphore) {
    assert_eq!((semaphore.inside(), semaphore.waiting()), (0, 0));
    assert!(semaphore.is_closed() || semaphore.try_enter().is_ok(), "it has room again");
}

/// With one permit a semaphore is a lock: its holders exclude each other, and see what the holder before did.
/// Shows G2.
#[test]
fn three_through_one_permit() {
    check_within(2, || {
        let (semaphore, witness) = (Arc::new(Semaphore::new(1)), Arc::new(Witness::new()));
        let threads = [(); 2].map(|()| {
            let (semaphore, witness) = (Arc::clone(&semaphore), Arc::clone(&witness));
            thread::spawn(move || {
                assert!(enter(&semaphore));
                witness.touch();
                semaphore.leave();
            })
        });
        assert!(enter(&semaphore));
        witness.touch();
        semaphore.leave();
        for thread in threads {
            thread.join().unwrap();
        }
        witness.assert_touched(3);
        assert_empty(&semaphore);
    });
}

/// The last permit is given back while a waiter goes into the line.
/// Shows G2.
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
/// Shows G2.
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
/// Shows G2.
#[test]
fn a_waiter_that_goes_against_its_call() {
    check_within(2, || {
        let semaphore = Arc::new(Semaphore::new(1));
        assert!(semaphore.try_enter().is_ok());
        let Waited::Waits(waiter) = semaphore.enter_or_wait(Waker::noop(), |_| None) else {
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
        witness.assert_touched(2);
        assert_empty(&semaphore);
    });
}

/// Two tasks come into a queue that has been empty since 5: no look sees a waiter in it together with that old time.
#[test]
fn a_queue_that_begins_is_not_as_old_as_the_last() {
    check(|| {
        let delay = Arc::new(Delay::new());
        delay.record_scheduled(5);
        delay.record_begin(5, 5);
        let threads = [100, 101].map(|now| {
            let delay = Arc::clone(&delay);
            thread::spawn(move || delay.record_scheduled(now))
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
        let (handle, worker, bed) = scheduler();
        let limit = Limit::new_in(&handle, Color::new(1), 1);
        assert!(limit.try_spawn(async {}).is_ok());
        let worker = start(worker, bed);
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
        let (handle, worker, bed) = scheduler();
        handle.scheduler().expect_sections();
        let limit = Limit::new_in(&handle, Color::new(1), 1);
        assert!(limit.try_spawn(async {}).is_ok());
        assert!(limit.ways().is_some_and(|ways| ways.by_color));
        let worker = start(worker, bed);
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

/// Two threads that no permit excludes from each other.
#[test]
#[should_panic(expected = "an access is not ordered")]
fn two_at_once_is_found() {
    check(|| {
        let witness = Arc::new(Witness::new());
        let other = Arc::clone(&witness);
        let thread = thread::spawn(move || other.touch());
        witness.touch();
        thread.join().unwrap();
        witness.assert_touched(2);
    });
}

/// A signal that excludes two threads from each other, and does not publish what the first has done.
#[test]
#[should_panic(expected = "an access is not ordered")]
fn an_order_that_is_missing_is_found() {
    check(|| {
        let (witness, left) = (Arc::new(Witness::new()), Arc::new(AtomicUsize::new(0)));
        let (other, leaves) = (Arc::clone(&witness), Arc::clone(&left));
        let thread = thread::spawn(move || {
            other.touch();
            // Ordering: seeded: `State::change` has Release here.
            leaves.store(1, Ordering::Relaxed);
        });
        // Ordering: seeded: `State::change` has Acquire here.
        let entered = left.load(Ordering::Relaxed) == 1;
        if entered {
            witness.touch();
        }
        thread.join().unwrap();
        witness.assert_touched(1 + usize::from(entered));
    });
}
