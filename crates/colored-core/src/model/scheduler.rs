//! Workers that sleep, and threads that give them work: no lane is left behind (G6). A lost wake-up is a deadlock here.

use super::pool::{Flag, both_come, pool, start, stay_stuck, step_until_idle, stop};
use super::{check, check_within};
use crate::kernel::color::Color;
use crate::kernel::sched::Step;
use crate::sync::{Arc, AtomicUsize, Ordering};
use loom::thread;

/// Shows G6.
#[test]
fn park_against_dispatch() {
    check(|| {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let done = Flag::new();
        let set = Arc::clone(&done);
        drop(handle.spawn_unique(async move { set.set() }));
        done.wait();
        stop(&handle, [thread]);
    });
}

/// Two lanes, of which one cannot end before the other has run: both workers must come.
/// Shows G6.
#[test]
fn two_workers_for_two_lanes() {
    // With two preemptions it takes more than five minutes: every look for a lane takes the lock of the
    // injector's double.
    check_within(1, || {
        both_come(pool(2), None);
    });
}

/// A worker makes two lanes runnable and stays in its poll until one of them has run: the other
/// worker is asleep, or about to be, and must come for it.
/// Shows G6.
#[test]
fn the_lanes_of_a_stuck_worker_are_stolen() {
    check_within(2, || {
        stay_stuck(pool(2));
    });
}

/// One of two workers that could come for a lane begins a pause, and may have been woken in the place of the other: it
/// wakes the other one.
/// Shows G6.
#[test]
fn a_searcher_that_begins_to_rest_wakes_another_worker() {
    check_within(1, || {
        let (handle, mut workers, beds) = pool(3);
        let (mut third, mut pausing) = (workers.remove(2), workers.remove(1));
        let mut busy = workers.remove(0);
        assert_eq!(third.step(), Step::Park(None));
        assert_eq!(pausing.step(), Step::Park(None));
        pausing.pause_until(1);
        let (ran, spawner) = (Flag::new(), handle.clone());
        let set_ran = Arc::clone(&ran);
        let publish = move || {
            drop(spawner.spawn_unique(async move { set_ran.set() }));
            drop(spawner.spawn_unique(async {}));
        };
        handle.post_to_worker(0, Color::new(1), publish).ok().expect("there is such a worker");
        let kept = Arc::clone(&beds);
        let third = thread::spawn(move || {
            kept.wait(2);
            assert_eq!(third.step(), Step::Ran);
            third
        });
        let pausing = thread::spawn(move || {
            while pausing.step() == Step::Ran {}
            pausing.pause_until(0);
            pausing
        });
        // The lanes that it makes runnable stay there until another worker comes for them.
        assert_eq!(busy.step(), Step::Ran);
        ran.wait();
        handle.scheduler().shut_down();
        let mut workers = [busy, third.join().unwrap(), pausing.join().unwrap()];
        workers.iter_mut().for_each(step_until_idle);
    });
}

/// The calling thread is a guest: its future alternates between it and the workers.
/// Shows G3.
#[test]
fn guest_against_worker() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let task = handle.spawn_colored(Color::DEFAULT, async { 1 });
        let sum = handle.block_on(async move { task.await.unwrap() + 1 });
        assert_eq!(sum.unwrap().unwrap(), 2);
        stop(&handle, [thread]);
    });
}

/// A guest's future spawns a task that runs on the worker, and hears of it. A thread that finds the scheduler at rest after
/// the begin finds that all of this is over.
#[test]
fn at_rest_means_that_nothing_runs() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let worker = start(workers.remove(0), &beds);
        let (begun, done) = (Arc::new(AtomicUsize::new(0)), Flag::new());
        let (count, sets) = (Arc::clone(&begun), Arc::clone(&done));
        let guest = {
            let handle = handle.clone();
            thread::spawn(move || {
                let spawner = handle.clone();
                let future = async move {
                    // Ordering: what the model checks comes from the scheduler alone.
                    count.store(1, Ordering::Relaxed);
                    let task = spawner.spawn_colored(Color::DEFAULT, async {});
                    task.await.unwrap();
                    count.store(2, Ordering::Relaxed);
                };
                handle.block_on(future).unwrap().unwrap();
                sets.set();
            })
        };
        // The begin of the guest comes from outside, so it may come at any time.
        let before = begun.load(Ordering::Relaxed);
        if before == 1 && handle.scheduler().rest().is_some() {
            assert_eq!(begun.load(Ordering::Relaxed), 2, "at rest while the guest or its task ran");
        }
        done.wait();
        guest.join().unwrap();
        stop(&handle, [worker]);
    });
}
