//! Spare workers that join and leave while lanes come: no lane is left behind (G6), and the end of the scheduler waits
//! for none of them.

use super::doubles::gate;
use super::pool::{Flag, Pool, pool_with, run, start, stay_stuck, stop};
use super::{check_large, check_within};
use crate::kernel::sched::{Options, Step, spawn_local};
use crate::sync::Arc;
use loom::thread;

/// One worker and a spare one.
fn one_and_a_spare() -> Pool {
    pool_with(1, Options { spares: 1, ..Options::default() })
}

/// The spare is asked for while the worker makes lanes runnable, and stays in its poll until one of them has run.
/// Shows G6.
#[test]
fn a_spare_takes_the_lanes_of_a_stuck_worker() {
    check_within(1, || {
        let pool = one_and_a_spare();
        let wants = pool.0.clone();
        let backstop = thread::spawn(move || wants.scheduler().want_spares(1));
        stay_stuck(pool);
        backstop.join().unwrap();
    });
}

/// The spare has lanes, or is about to take some, when it is not wanted any more.
/// Shows G6.
#[test]
fn a_spare_that_leaves_hands_its_lanes_over() {
    check_within(1, || {
        let (handle, mut workers, beds) = one_and_a_spare();
        let mut spare = workers.remove(1);
        handle.scheduler().want_spares(1);
        let (first, second) = (Flag::new(), Flag::new());
        let (set_first, set_second) = (Arc::clone(&first), Arc::clone(&second));
        drop(handle.spawn_unique(async move { set_first.set() }));
        drop(handle.spawn_unique(async move { set_second.set() }));
        // It takes both, and runs the first.
        assert_eq!(spare.step(), Step::Ran);
        let worker = start(workers.remove(0), &beds);
        let spare = start(spare, &beds);
        handle.scheduler().want_spares(0);
        first.wait();
        second.wait();
        stop(&handle, [worker, spare]);
    });
}

/// A lane that only the spare may run comes while the spare leaves.
/// Shows G6.
#[test]
fn a_spare_that_has_left_comes_back_for_what_is_pinned_to_it() {
    check_large(|| {
        let (handle, mut workers, beds) = one_and_a_spare();
        let (mut worker, spare) = (workers.remove(0), workers.remove(0));
        assert_eq!(worker.step(), Step::Park(None));
        handle.scheduler().want_spares(1);
        let (opens, wait) = gate();
        let (ran, done) = (Flag::new(), Flag::new());
        let (set_ran, set_done) = (Arc::clone(&ran), Arc::clone(&done));
        drop(handle.spawn_unique(async move {
            drop(spawn_local(async move {
                set_ran.set();
                wait.await;
                set_done.set();
            }));
        }));
        let kept = Arc::clone(&beds);
        let spare = thread::spawn(move || run(spare, &kept));
        ran.wait();
        handle.scheduler().want_spares(0);
        opens.open();
        done.wait();
        let worker = start(worker, &beds);
        stop(&handle, [worker, spare]);
    });
}

/// The scheduler stops while the spare joins or leaves.
/// Shows G6.
#[test]
fn a_spare_stops_with_the_workers() {
    check_large(|| {
        let (handle, mut workers, beds) = one_and_a_spare();
        let spare = start(workers.remove(1), &beds);
        let worker = start(workers.remove(0), &beds);
        let wants = handle.clone();
        let backstop = thread::spawn(move || {
            wants.scheduler().want_spares(1);
            wants.scheduler().want_spares(0);
        });
        stop(&handle, [worker, spare]);
        backstop.join().unwrap();
    });
}
