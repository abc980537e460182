//! `late_pinned`: a task that is pinned to a worker, behind a guest that has the color while the workers stop.

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{Color, Scheduler, SchedulerHandle, Step, Worker};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Count(Arc<AtomicUsize>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The guest sends the color on to a worker that no longer comes for it.
#[test]
fn a_task_for_a_worker_is_dropped_when_the_guest_ends_last() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let mut worker = workers.remove(0);
    let drops = Arc::new(AtomicUsize::new(0));
    let (spawner, count) = (handle.clone(), Count(Arc::clone(&drops)));
    let root = async move {
        let (site, never) = (Location::caller(), std::future::pending::<()>());
        let make = move || async move {
            let _count = count;
            never.await;
        };
        let pinned = spawner.spawn_pinned_from(site, 0, Color::DEFAULT, make);
        drop(pinned.ok().expect("there is such a worker"));
        spawner.scheduler().shut_down();
        while worker.step() != Step::Stopped {}
    };
    handle.block_on(root).expect("nothing runs here").expect("it is polled once");
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

/// A worker that has run out of lanes stays while another one has a future that only that one may drop.
#[test]
fn no_worker_stops_before_another_one_has_dropped_its_own_futures() {
    let (handle, mut workers) = Scheduler::with_workers(2, 1, Box::new(NeverParks));
    let drops = Arc::new(AtomicUsize::new(0));
    let count = Count(Arc::clone(&drops));
    let make = move || async move {
        let _count = count;
        std::future::pending::<()>().await;
    };
    let pinned = handle.spawn_pinned_from(Location::caller(), 1, Color::new(1), make);
    drop(pinned.ok().expect("there is such a worker"));
    while workers[1].step() == Step::Ran {}
    handle.scheduler().shut_down();
    for _ in 0..10 {
        assert_ne!(workers[0].step(), Step::Stopped);
    }
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    stop(&handle, &mut workers);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

/// A thread that spawns late runs the color itself, and the workers stop in the middle of that.
#[test]
fn a_task_for_a_worker_that_stops_meanwhile_is_dropped_elsewhere() {
    struct Stops(SchedulerHandle, Worker, Option<Count>);
    impl Drop for Stops {
        fn drop(&mut self) {
            let count = self.2.take();
            let make = move || async move { drop(count) };
            let pinned = self.0.spawn_pinned_from(Location::caller(), 0, Color::new(1), make);
            drop(pinned.ok().expect("there is such a worker"));
            while self.1.step() != Step::Stopped {}
        }
    }
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    handle.scheduler().shut_down();
    let drops = Arc::new(AtomicUsize::new(0));
    let stops = Stops(handle.clone(), workers.remove(0), Some(Count(Arc::clone(&drops))));
    drop(handle.spawn_colored(Color::new(1), async move { drop(stops) }));
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}
