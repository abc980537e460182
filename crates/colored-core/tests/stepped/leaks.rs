//! Entries of a queue own the scheduler: when its workers have stopped, the queues must be empty.

use crate::doubles::{Counted, by};
use colored_core::{Color, Options, Priority, Scheduler, SchedulerHandle, Step, Worker, yield_now};
use colored_lab::places::PLACES;
use std::future::pending;
use std::sync::{Arc, Weak};

/// None, and each that does not steal: for one worker there is no difference.
fn policies() -> impl Iterator<Item = Options> {
    let others = PLACES[1].iter().map(|places| by(places));
    std::iter::once(Options::default()).chain(others)
}

fn one_worker(mut options: Options) -> (SchedulerHandle, Worker, Weak<()>) {
    let alive = Arc::new(());
    let witness = Arc::downgrade(&alive);
    if cfg!(miri) {
        options.slice_polls = 4;
    }
    let port = Box::new(Counted(alive));
    let (handle, mut workers) = Scheduler::with_options(1, 1, port, options);
    (handle, workers.pop().expect("one worker"), witness)
}

fn step_times(worker: &mut Worker, count: usize) {
    for _ in 0..count {
        assert_eq!(worker.step(), Step::Ran);
    }
}

fn stop(handle: SchedulerHandle, mut worker: Worker, witness: &Weak<()>) {
    handle.scheduler().shut_down();
    while worker.step() != Step::Stopped {}
    drop((handle, worker));
    assert!(witness.upgrade().is_none(), "something keeps the scheduler");
}

/// Spawns tasks of all kinds under one color, so that the queues keep entries of a color that has become idle.
fn crowd(handle: &SchedulerHandle, color: u64) {
    for _ in 0..3 {
        drop(handle.spawn_colored(Color::new(color), pending::<()>()));
        drop(handle.spawn_colored(Color::new(color), async {
            loop {
                yield_now().await;
            }
        }));
        drop(handle.spawn_colored(Color::new(color), async {}));
    }
}

#[test]
fn entries_of_a_color_with_nothing_to_run_are_forgotten() {
    // Under Miri the worker stops at three of these places: the queues' code is the same at all of them.
    let every = if cfg!(miri) { 7 } else { 1 };
    for options in policies() {
        for count in (0..20).step_by(every) {
            let (handle, mut worker, witness) = one_worker(options);
            crowd(&handle, 1);
            crowd(&handle, 2);
            step_times(&mut worker, count);
            stop(handle, worker, &witness);
        }
    }
}

/// Also where the workers of a scheduler have never run anything.
#[test]
fn work_after_the_end_is_freed() {
    for options in policies() {
        let (handle, mut worker, witness) = one_worker(options);
        handle.scheduler().shut_down();
        while worker.step() != Step::Stopped {}
        crowd(&handle, 1);
        stop(handle, worker, &witness);
    }
}

#[test]
fn priorities_are_forgotten() {
    for options in policies() {
        let (handle, mut worker, witness) = one_worker(options);
        for (color, priority) in [(1, Priority::High), (2, Priority::Low), (3, Priority::Low)] {
            handle.set_priority(Color::new(color), priority);
        }
        crowd(&handle, 1);
        crowd(&handle, 2);
        step_times(&mut worker, 7);
        stop(handle, worker, &witness);
    }
}
