//! Two looks that find the same rest: the way in which the shell moves a paused clock, in small.
//!
//! A thread that has taken an event wakes a task, and the task sends to a socket. Another thread looks whether all is at
//! rest, polls the socket, looks whether an event is in hand, and looks again whether all is at rest. If so, it has seen
//! what was sent.

use super::check_within;
use super::doubles::gate;
use super::pool::{Flag, pool, run, start, step_until_idle, stop};
use crate::kernel::sched::{Rest, SchedulerHandle};
use crate::sync::{Arc, AtomicBool, Ordering};
use loom::thread;

/// What both looks must have found if time is to move.
type Criterion = fn(Rest, Rest) -> bool;

const SAME: Criterion = |before, after| before == after;

/// A thread that has an event in hand, and calls `wake` for it.
struct Hand {
    is_full: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Hand {
    fn with_event(wake: impl FnOnce() + 'static) -> Hand {
        let is_full = Arc::new(AtomicBool::new(true));
        let is_full_there = Arc::clone(&is_full);
        let thread = thread::spawn(move || {
            wake();
            // Ordering: Release pairs with the Acquire in `look`, which then finds the task in its queue.
            is_full_there.store(false, Ordering::Release);
        });
        Hand { is_full, thread }
    }

    fn look(&self, handle: &SchedulerHandle, sent: &AtomicBool, criterion: Criterion) {
        let before = handle.scheduler().rest();
        // Ordering: what the model checks comes from the scheduler alone.
        let polled = sent.load(Ordering::Relaxed);
        // Ordering: see `with_event`.
        let is_full = self.is_full.load(Ordering::Acquire);
        if let (Some(before), Some(after)) = (before, handle.scheduler().rest())
            && !is_full
            && criterion(before, after)
        {
            // Ordering: as above.
            let seen = polled || !sent.load(Ordering::Relaxed);
            assert!(seen, "time moves ahead of an event");
        }
    }
}

/// The task runs on a worker.
fn a_worker_sends(criterion: Criterion) {
    check_within(2, move || {
        let (handle, mut workers, beds) = pool(1);
        let mut worker = workers.remove(0);
        step_until_idle(&mut worker);
        let worker = start(worker, &beds);
        let (sent, spawner) = (Arc::new(AtomicBool::new(false)), handle.clone());
        let sends = Arc::clone(&sent);
        let hand = Hand::with_event(move || {
            // Ordering: see `look`.
            drop(spawner.spawn_unique(async move { sends.store(true, Ordering::Relaxed) }));
        });
        hand.look(&handle, &sent, criterion);
        hand.thread.join().unwrap();
        stop(&handle, [worker]);
    });
}

#[test]
fn no_look_misses_what_a_worker_sends() {
    a_worker_sends(SAME);
}

/// Without the comparison of the two looks, the model finds the case.
#[test]
#[should_panic(expected = "time moves ahead of an event")]
fn two_rests_are_not_one() {
    a_worker_sends(|_, _| true);
}

/// The task runs on a guest, which the thread with the event wakes by itself. No worker has to do with it.
#[test]
fn no_look_misses_what_a_guest_sends() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let mut worker = workers.remove(0);
        step_until_idle(&mut worker);
        let (sent, (event, comes)) = (Arc::new(AtomicBool::new(false)), gate());
        let (sends, blocks) = (Arc::clone(&sent), handle.clone());
        let begun = Flag::new();
        let begins = Arc::clone(&begun);
        let guest = thread::spawn(move || {
            let future = async move {
                begins.set();
                comes.await;
                // Ordering: see `look`.
                sends.store(true, Ordering::Relaxed);
            };
            blocks.block_on(future).unwrap().unwrap();
        });
        // The begin of a guest comes from outside.
        begun.wait();
        let hand = Hand::with_event(move || event.open());
        hand.look(&handle, &sent, SAME);
        hand.thread.join().unwrap();
        guest.join().unwrap();
        handle.scheduler().shut_down();
        run(worker, &beds);
    });
}
