//! Workers that sleep, and those who give them work: no lane is left behind (G6). A lost wake-up is
//! a deadlock here.

use super::pool::{Flag, pool, run, start, step_until_idle};
use super::{check, check_within};
use crate::color::Color;
use crate::sched::Step;
use crate::sync::Arc;
use loom::thread;

#[test]
fn park_against_dispatch() {
    check(|| {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let done = Flag::new();
        let set = Arc::clone(&done);
        drop(handle.spawn_unique(async move { set.set() }));
        done.wait();
        handle.scheduler().shut_down();
        thread.join().unwrap();
    });
}

/// Two lanes of which one cannot end before the other has run: both workers must come.
#[test]
fn two_workers_for_two_lanes() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(2);
        let threads = [workers.remove(0), workers.remove(0)].map(|worker| start(worker, &beds));
        let (first, second) = (Flag::new(), Flag::new());
        let (wait, set) = (Arc::clone(&first), Arc::clone(&second));
        drop(handle.spawn_unique(async move {
            wait.wait();
            set.set();
        }));
        drop(handle.spawn_unique(async move { first.set() }));
        second.wait();
        handle.scheduler().shut_down();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// A worker makes two lanes runnable and stays in its poll until one of them has run: the other
/// worker is asleep, or about to be, and must come for it.
#[test]
fn a_stuck_worker_is_robbed() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(2);
        let spawner = handle.clone();
        drop(handle.spawn_unique(async move {
            let ran = Flag::new();
            let set_ran = Arc::clone(&ran);
            drop(spawner.spawn_unique(async move { set_ran.set() }));
            drop(spawner.spawn_unique(async {}));
            ran.wait();
            spawner.scheduler().shut_down();
        }));
        let other = start(workers.remove(1), &beds);
        run(workers.remove(0), &beds);
        other.join().unwrap();
    });
}

/// One of two workers that could come for a lane rests, and may have been woken in the place of the
/// other: that one is woken after all.
#[test]
fn who_rests_wakes_another() {
    check_within(1, || {
        let (handle, mut workers, beds) = pool(3);
        let (mut third, mut resting) = (workers.remove(2), workers.remove(1));
        let mut busy = workers.remove(0);
        assert_eq!(third.step(), Step::Park(None));
        assert_eq!(resting.step(), Step::Park(None));
        resting.rest_until(1);
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
        let resting = thread::spawn(move || {
            while resting.step() == Step::Ran {}
            resting.rest_until(0);
            resting
        });
        // What it makes runnable stays there until somebody comes for it.
        assert_eq!(busy.step(), Step::Ran);
        ran.wait();
        handle.scheduler().shut_down();
        let mut workers = [busy, third.join().unwrap(), resting.join().unwrap()];
        workers.iter_mut().for_each(step_until_idle);
    });
}

/// The calling thread is a guest: its future goes to and fro between it and the workers.
#[test]
fn guest_against_worker() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let task = handle.spawn(Color::DEFAULT, async { 1 });
        let sum = handle.block_on(async move { task.await.unwrap() + 1 });
        assert_eq!(sum.unwrap().unwrap(), 2);
        handle.scheduler().shut_down();
        thread.join().unwrap();
    });
}
