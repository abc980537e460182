//! Policies: a worker finds the lanes that are left for it, some worker finds the lanes in the queue for all, and none
//! is left over at the end. A lost wake-up is a deadlock here.

use super::doubles::gate;
use super::pool::{
    Flag, at_home, both_come, pool_with, run, start, start_both, stay_stuck, step_until_idle, stop,
    wake_up,
};
use super::{check_large, check_within};
use crate::kernel::color::Color;
use crate::kernel::sched::{Destination, Options, Policy, Runnable, Scheduler, Step};
use crate::sync::Arc;
use loom::thread;
use std::future::pending;

#[derive(Debug)]
struct Home {
    steals: bool,
}

impl Policy for Home {
    fn destination(&self, lane: Runnable, _: &Scheduler) -> Destination {
        lane.home.map_or(Destination::Usual, Destination::Worker)
    }

    fn steals(&self) -> bool {
        self.steals
    }
}

#[derive(Debug)]
struct OneQueue;

impl Policy for OneQueue {
    fn destination(&self, _: Runnable, _: &Scheduler) -> Destination {
        Destination::Everybody
    }

    fn steals(&self) -> bool {
        false
    }
}

/// The first color goes into the queue for all, all others to the first worker.
#[derive(Debug)]
struct FirstForAll;

impl Policy for FirstForAll {
    fn destination(&self, lane: Runnable, _: &Scheduler) -> Destination {
        if lane.color == Color::new(0) { Destination::Everybody } else { Destination::Worker(0) }
    }

    fn steals(&self) -> bool {
        false
    }
}

fn by(policy: &'static dyn Policy) -> Options {
    Options { policy: Some(policy), ..Options::default() }
}

/// A lane whose home goes to sleep is made runnable: no other worker would come.
/// Shows G6.
#[test]
fn home_against_sleep() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool_with(2, by(&Home { steals: false }));
        let done = Flag::new();
        let set = Arc::clone(&done);
        let gate = at_home(&handle, &mut workers[1], move || set.set());
        let home = start(workers.remove(1), &beds);
        gate.open();
        done.wait();
        handle.scheduler().shut_down();
        run(workers.remove(0), &beds);
        home.join().unwrap();
    });
}

/// The same, made runnable by another worker, and with thieves: the home or the other worker runs it.
/// Shows G6.
#[test]
fn home_against_sleep_and_thieves() {
    check_within(1, || {
        let (handle, mut workers, beds) = pool_with(2, by(&Home { steals: true }));
        let done = Flag::new();
        let set = Arc::clone(&done);
        let gate = at_home(&handle, &mut workers[1], move || set.set());
        // The opener has a color of its own: by color it is sent to no worker.
        drop(handle.spawn_unique(async move { gate.open() }));
        step_until_idle(&mut workers[0]);
        let threads = start_both(workers, &beds);
        done.wait();
        stop(&handle, threads);
    });
}

/// A lane is on its way from the home queue of its home to the deque while the other worker goes to sleep,
/// and the home has another lane to run before it.
#[test]
fn home_with_more_against_sleep() {
    check_within(1, || {
        let (handle, mut workers, beds) = pool_with(2, by(&Home { steals: true }));
        let (done, came) = (Flag::new(), Flag::new());
        let set = Arc::clone(&came);
        let gate = at_home(&handle, &mut workers[0], move || set.set());
        let (spawner, set) = (handle.clone(), Arc::clone(&done));
        drop(handle.spawn_unique(async move {
            // In the `next` slot, so no other worker takes it.
            drop(spawner.spawn_unique(async move {
                came.wait();
                set.set();
            }));
        }));
        assert_eq!(workers[0].step(), Step::Ran);
        gate.open();
        let threads = start_both(workers, &beds);
        done.wait();
        stop(&handle, threads);
    });
}

/// A lane is left for a home that is awake and stuck, while a thief goes to sleep, and no other event follows: the
/// thief finds it by its last look, or is woken.
/// Shows G6.
#[test]
fn home_queue_of_a_stuck_home_against_sleep() {
    check_large(|| {
        let (handle, mut workers, beds) = pool_with(2, by(&Home { steals: true }));
        let done = Flag::new();
        let set = Arc::clone(&done);
        let gate = at_home(&handle, &mut workers[1], move || set.set());
        wake_up(&handle, &mut workers[1]);
        let thief = start(workers.remove(0), &beds);
        gate.open();
        done.wait();
        handle.scheduler().shut_down();
        run(workers.remove(0), &beds);
        thief.join().unwrap();
    });
}

/// One worker stays in its poll, with a lane in its deque, while the other one goes to sleep.
#[test]
fn stay_stuck_against_thieves() {
    check_within(2, || stay_stuck(pool_with(2, by(&Home { steals: true }))));
}

/// The home stops while the lane is left for it.
#[test]
fn home_against_the_end() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool_with(1, by(&Home { steals: false }));
        let (gate, wait) = gate();
        let join = handle.spawn_unique(async move {
            wait.await;
            pending::<()>().await;
        });
        step_until_idle(&mut workers[0]);
        let home = start(workers.remove(0), &beds);
        let opener = thread::spawn(move || gate.open());
        handle.scheduler().shut_down();
        opener.join().unwrap();
        home.join().unwrap();
        assert!(join.is_finished());
    });
}

/// Two lanes, of which one cannot end before the other has run: both workers must come to the one queue.
/// Shows G6.
#[test]
fn two_workers_for_two_lanes_of_one_queue() {
    check_large(|| both_come(pool_with(2, by(&OneQueue)), None));
}

/// Both workers sleep. A lane comes to the first one, whose task waits for the lane that comes to the one queue meanwhile: the first
/// worker still searches then, or the second one is woken.
/// Shows G6.
#[test]
fn a_lane_for_all_beside_one_for_a_worker() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool_with(2, by(&FirstForAll));
        workers.iter_mut().for_each(step_until_idle);
        let threads: Vec<_> = workers
            .into_iter()
            .map(|worker| {
                let beds = Arc::clone(&beds);
                thread::spawn(move || {
                    beds.wait(worker.index());
                    run(worker, &beds);
                })
            })
            .collect();
        let (first, second) = (Flag::new(), Flag::new());
        let (wait, set) = (Arc::clone(&first), Arc::clone(&second));
        drop(handle.spawn_unique(async move {
            wait.wait();
            set.set();
        }));
        drop(handle.spawn_colored(Color::new(0), async move { first.set() }));
        second.wait();
        stop(&handle, threads);
    });
}
