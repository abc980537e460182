//! A call that runs at once when the lane is idle, against producers.

use super::doubles::{Witness, gate, post, run_beside, scene, spawn};
use super::{check, check_within};
use crate::kernel::lane::{LaneRef, push};
use crate::sync::Arc;
use loom::thread;

fn call_or_post(lane: &LaneRef, witness: &Arc<Witness>, mark: u32) {
    let seen = Arc::clone(witness);
    if let Err(later) = push::run_inline(lane, move || seen.note(mark)) {
        push::post(lane, later);
    }
}

/// A node that is pushed during the call runs after it, even if the link was not there yet.
#[test]
fn call_against_push() {
    check(|| {
        let (port, lane, witness) = scene();
        let (other, seen) = (lane.clone(), Arc::clone(&witness));
        let thread = run_beside(&port, move || {
            post(&other, &seen, 1);
            other
        });
        call_or_post(&lane, &witness, 2);
        thread.join().unwrap();
        port.run_all();
        assert_eq!(witness.marks().len(), 2);
    });
}

/// Two pushers, so that the call can end while one is half done: it leaves its node behind.
/// Shows G1.
#[test]
fn call_against_two_pushes() {
    check_within(2, || {
        let (port, lane, witness) = scene();
        let threads = [1, 2].map(|mark| {
            let (other, seen) = (lane.clone(), Arc::clone(&witness));
            thread::spawn(move || push::post(&other, move || seen.note(mark)))
        });
        call_or_post(&lane, &witness, 3);
        drop(lane);
        for thread in threads {
            thread.join().unwrap();
        }
        port.run_all();
        assert_eq!(witness.marks().len(), 3);
    });
}

/// Two calls: one runs at once, or one after the other.
/// Shows G1.
#[test]
fn call_against_call() {
    check(|| {
        let (port, lane, witness) = scene();
        let (other, seen) = (lane.clone(), Arc::clone(&witness));
        let thread = run_beside(&port, move || {
            call_or_post(&other, &seen, 1);
            drop(other);
        });
        call_or_post(&lane, &witness, 2);
        drop(lane);
        thread.join().unwrap();
        port.run_all();
        assert_eq!(witness.marks().len(), 2);
    });
}

/// A call against a wake-up of a task that waits on the lane.
#[test]
fn call_against_wake() {
    check(|| {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let seen = Arc::clone(&witness);
        let join = spawn(&lane, async move {
            wait.await;
            seen.touch();
        });
        port.run_all();
        let thread = run_beside(&port, move || gate.open());
        call_or_post(&lane, &witness, 2);
        drop(lane);
        thread.join().unwrap();
        port.run_all();
        assert!(join.is_finished());
        assert_eq!(witness.marks().len(), 2);
    });
}
