//! Models that must fail, and one that counts: they prove that the others check something.

use super::doubles::{Port, Witness, gate, lane, run_beside};
use super::{check, count};
use crate::ext::snapshot::view::View;
use crate::kernel::chain::{Chain, Kind, Node};
use crate::kernel::lane::{Held, push};
use crate::sync::{Arc, AtomicBool, AtomicUsize, Condvar, Mutex, Ordering};
use loom::thread;
use std::ptr::NonNull;

#[test]
#[should_panic(expected = "an increment was lost")]
fn a_lost_increment_is_found() {
    check(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&count);
        let add = |count: &AtomicUsize| {
            let before = count.load(Ordering::Relaxed);
            count.store(before + 1, Ordering::Relaxed);
        };
        let thread = thread::spawn(move || add(&other));
        add(&count);
        thread.join().unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 2, "an increment was lost");
    });
}

/// Shows G6.
#[test]
#[should_panic(expected = "deadlock")]
fn a_lost_wake_up_is_found() {
    check(|| {
        // The model is leaked: loom cannot unwind through its own types after a deadlock.
        let shared = Box::leak(Box::new((AtomicBool::new(false), Mutex::new(()), Condvar::new())));
        let (ready, lock, came) = &*shared;
        let thread = thread::spawn(move || {
            ready.store(true, Ordering::SeqCst);
            came.notify_one();
        });
        if !ready.load(Ordering::SeqCst) {
            drop(came.wait(lock.lock()));
        }
        thread.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_use_after_free_is_found() {
    check(|| {
        let word = Arc::new(Mutex::new(Some(Box::new(AtomicUsize::new(0)))));
        let word_ptr = NonNull::from(word.lock().as_deref().unwrap()).as_ptr() as usize;
        let other = Arc::clone(&word);
        let thread = thread::spawn(move || {
            // Leaked rather than freed: the model is about the order, not the allocator.
            let word = Box::leak(other.lock().take().unwrap());
            // SAFETY: this thread has taken the word out of the lock, and drops it once.
            unsafe { std::ptr::drop_in_place(word) };
        });
        // SAFETY: the memory is there, even if the value is gone: that is the bug.
        let word = unsafe { &*(word_ptr as *const AtomicUsize) };
        word.fetch_add(1, Ordering::Relaxed);
        thread.join().unwrap();
    });
}

/// A lane that two threads run at once: the effect of a second `ReadyLane`.
/// Shows G1.
#[test]
#[should_panic(expected = "Causality violation")]
fn two_holders_are_found() {
    check(|| {
        let witness = Witness::new();
        let other = Arc::clone(&witness);
        let thread = thread::spawn(move || other.touch());
        witness.touch();
        thread.join().unwrap();
    });
}

/// A push that takes a held chain breaks the chain; the assertion of the model sees it.
#[test]
#[should_panic(expected = "held by two")]
fn a_second_holder_is_found() {
    check(|| {
        let held = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&held);
        // Seeded: looks first and takes afterwards, where `Chain::try_take` exchanges.
        let take = |held: &AtomicUsize| {
            if held.load(Ordering::Acquire) == 0 {
                assert_eq!(held.fetch_add(1, Ordering::AcqRel), 0, "held by two");
            }
        };
        let thread = thread::spawn(move || take(&other));
        take(&held);
        thread.join().unwrap();
    });
}

/// A lane is queued as what it was before it was raised, and the thread that raises it does not find it queued.
#[test]
#[should_panic(expected = "the raise was missed")]
fn a_missed_raise_is_found() {
    check(|| {
        const HIGH: usize = 1;
        const QUEUED: usize = 2;
        let shared = Arc::new((AtomicUsize::new(0), Mutex::new(None)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let mut queue = other.1.lock();
            // Seeded: looks at the class first, where `Lane::enter_class_queue` does both in one exchange.
            *queue = Some(other.0.load(Ordering::Relaxed) & HIGH);
            other.0.fetch_or(QUEUED, Ordering::Release);
        });
        if shared.0.fetch_or(HIGH, Ordering::Acquire) & QUEUED != 0 {
            *shared.1.lock() = Some(HIGH);
        }
        thread.join().unwrap();
        assert_eq!(*shared.1.lock(), Some(HIGH), "the raise was missed");
    });
}

/// Shows G8.
#[test]
#[should_panic(expected = "leaked")]
fn a_leaked_task_is_found() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let (gate, wait) = gate();
        // Its runtime's reference is never given back: the gate is never opened.
        drop(super::doubles::spawn(&lane, wait));
        port.run_all();
        let thread = thread::spawn(move || drop(lane));
        thread.join().unwrap();
        drop(gate);
    });
}

/// A dump that looks at a lane without the right to run it, while the holder puts a task on the lane's list.
/// Shows G14.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_view_without_the_right_to_run_is_found() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let (gate, wait) = gate();
        let join = super::doubles::spawn(&lane, wait);
        let thread = run_beside(&port, || ());
        // SAFETY: not sound: this thread does not hold the lane. That is the bug.
        let held = unsafe { Held::new(lane.ptr()) };
        let first = View::of(held).task_behind(None).is_some();
        thread.join().unwrap();
        gate.open();
        port.run_all();
        drop((first, join));
    });
}

#[test]
fn every_interleaving_is_explored() {
    let one = count(3, || {
        let chain = Chain::new();
        let node = Node::new(Kind::Callback, 0);
        // SAFETY: the node is in no chain yet, and outlives the unlink at the end of this closure.
        let pushed = unsafe { chain.push(NonNull::from(&node)) };
        assert_eq!(pushed, crate::kernel::chain::Pushed::Taken);
        assert_eq!(super::chain::unlink(&chain), crate::kernel::chain::Unlinked::Idle);
    });
    assert_eq!(one, 1, "one thread has one interleaving");
    let many = count(3, || {
        let port = Port::new();
        let lane = lane(&port);
        let other = lane.clone();
        let thread = thread::spawn(move || push::post(&other, || ()));
        push::post(&lane, || ());
        thread.join().unwrap();
        port.run_all();
    });
    assert!(many > 10, "two pushers have many interleavings, not {many}");
}
