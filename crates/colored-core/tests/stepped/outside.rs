//! Lanes that threads which are no workers make, use and free. Miri above all runs these tests: it finds references
//! into a lane that live on when another thread frees it.

use crate::doubles::NeverParks;
use colored_core::{Color, ColorCell, Options, Park, Scheduler, SchedulerHandle, Step, Worker};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const ROUNDS: usize = if cfg!(miri) { 5 } else { 1000 };

fn step_until_stopped(worker: &mut Worker) {
    while worker.step() != Step::Stopped {
        thread::yield_now();
    }
}

/// A thread that is no worker drops the last cell of a color, and its lane with it.
#[test]
fn the_last_cell_is_dropped_outside() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    for round in 0..ROUNDS {
        let cell = ColorCell::new_in(&handle, Color::new(1), round);
        thread::scope(|scope| {
            scope.spawn(move || drop(cell));
        });
    }
    handle.scheduler().shut_down();
    step_until_stopped(&mut workers[0]);
    assert_eq!(handle.scheduler().lanes(), 1, "only the default color is left");
}

/// A thread that wakes the worker waits here until the worker has run everything, and freed all that it can.
#[derive(Clone, Default)]
struct WaitsForTheWorker(Arc<(AtomicBool, AtomicBool)>);

impl Park for WaitsForTheWorker {
    fn unpark(&self, _: usize) {
        let (woken, has_run) = &*self.0;
        woken.store(true, Ordering::SeqCst);
        while !has_run.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    }

    fn now(&self) -> u64 {
        0
    }
}

/// A worker has run the task, and freed its lane, before the thread that schedules the task goes on.
fn all_is_over_before(schedule: impl FnOnce(&SchedulerHandle)) {
    let park = WaitsForTheWorker::default();
    let options = Options { reuse: false, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(1, 7, Box::new(park.clone()), options);
    let mut worker = workers.remove(0);
    while worker.step() == Step::Ran {}
    let thread = thread::spawn(move || {
        let (woken, has_run) = &*park.0;
        while !woken.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        while worker.step() == Step::Ran {}
        has_run.store(true, Ordering::SeqCst);
        worker
    });
    schedule(&handle);
    let mut worker = thread.join().unwrap();
    handle.scheduler().shut_down();
    step_until_stopped(&mut worker);
    assert_eq!(handle.scheduler().lanes(), 1, "only the default color is left");
}

#[test]
fn work_scheduled_outside_ends_before_the_call_returns() {
    all_is_over_before(|handle| drop(handle.spawn_unique(async {})));
    all_is_over_before(|handle| drop(handle.spawn_colored(Color::new(1), async {})));
    all_is_over_before(|handle| {
        let cell = ColorCell::new_in(handle, Color::new(1), 0);
        cell.post(|n| *n += 1);
    });
    all_is_over_before(|handle| {
        let cell = ColorCell::new_in(handle, Color::unique(), 0);
        drop(handle.spawn_unique(async move { cell.call(|n| *n += 1).await }));
    });
    all_is_over_before(|handle| {
        let task = handle.spawn_unique(std::future::pending::<()>());
        task.abort();
    });
}
