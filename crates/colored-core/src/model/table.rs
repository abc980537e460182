//! The table of colors: a lane that is retired while a look-up asks for it.

use super::doubles::gate;
use super::pool::{pool, step_until_idle};
use super::{check, check_within};
use crate::kernel::color::Color;
use crate::kernel::lane::push;
use crate::kernel::sched::spawn_here;
use crate::kernel::spawn::yield_now;
use crate::sync::{Arc, AtomicUsize, Ordering};
use loom::thread;

const COLOR: Color = Color::new(1);

/// The look-up finds the lane that is there, or makes another; all that is posted on it runs, and
/// no lane is left.
/// Shows G5.
#[test]
fn retire_against_revive() {
    check(|| {
        let (handle, mut workers, _beds) = pool(1);
        let lane = handle.lane(COLOR);
        let thread = thread::spawn(move || drop(lane));
        let ran = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ran);
        let again = handle.lane(COLOR);
        push::post(&again, move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        drop(again);
        step_until_idle(&mut workers[0]);
        thread.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
        assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
    });
}

/// The last reference goes on a worker, after its slice, while another thread looks the lane up.
/// Shows G5.
#[test]
fn retire_after_a_slice_against_revive() {
    check(|| {
        let (handle, mut workers, _beds) = pool(1);
        drop(handle.spawn_colored(COLOR, async {}));
        let other = handle.clone();
        let thread = thread::spawn(move || drop(other.lane(COLOR)));
        step_until_idle(&mut workers[0]);
        thread.join().unwrap();
        assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
    });
}

/// Two look-ups of a color that has no lane yet get the same lane.
/// Shows G5.
#[test]
fn insert_against_insert() {
    check(|| {
        let (handle, _workers, _beds) = pool(1);
        let other = handle.clone();
        let thread = thread::spawn(move || other.lane(COLOR));
        let lane = handle.lane(COLOR);
        let same = thread.join().unwrap();
        assert_eq!(lane.ptr(), same.ptr());
        drop((lane, same));
        assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
    });
}

/// A holder puts a lane that is in no table there, while the holder before still has a reference to
/// give back: the thread that gives the last one back must know where the lane is.
/// Shows G5.
#[test]
fn publish_against_retire() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(2);
        let (gate, wait) = gate();
        drop(handle.spawn_unique(async move {
            let waits = async move {
                wait.await;
                // A thread that knows the color may look for it.
                assert!(Color::current().is_some());
            };
            drop(spawn_here(waits).ok().expect("inside a task"));
            yield_now().await;
        }));
        let mut second = workers.pop().unwrap();
        let thread = thread::spawn(move || {
            gate.open();
            step_until_idle(&mut second);
            second
        });
        step_until_idle(&mut workers[0]);
        let mut second = thread.join().unwrap();
        step_until_idle(&mut workers[0]);
        step_until_idle(&mut second);
        assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
    });
}
