//! When a scheduler is at rest: the shell then moves a paused clock.

use crate::doubles::NeverParks;
use colored_core::{Color, ColorCell, Scheduler, SchedulerHandle, Step, Worker};
use std::sync::mpsc;
use std::thread;

/// Workers that were called take a look, or a break, before they park.
fn step_until_at_rest(handle: &SchedulerHandle, workers: &mut [Worker]) {
    for _ in 0..100 {
        for worker in &mut *workers {
            let _ = worker.step();
        }
        if handle.scheduler().is_at_rest() {
            return;
        }
    }
    panic!("it has nothing to do, and is not at rest");
}

#[test]
fn it_is_at_rest_when_all_workers_are_parked_and_no_lane_waits() {
    let (handle, mut workers) = Scheduler::with_workers(2, 7, Box::new(NeverParks));
    let scheduler = handle.scheduler();
    assert!(!scheduler.is_at_rest(), "no worker has looked yet");
    for worker in &mut workers {
        assert!(!scheduler.is_at_rest());
        assert_eq!(worker.step(), Step::Park(None));
    }
    assert!(scheduler.is_at_rest());
    let task = handle.spawn_colored(Color::new(1), async { 7 });
    assert!(!scheduler.is_at_rest(), "a lane waits");
    while workers[0].step() != Step::Park(None) {
        assert!(!scheduler.is_at_rest(), "the worker is awake");
    }
    assert!(task.is_finished());
    step_until_at_rest(&handle, &mut workers);
    // A lane for one worker, in its inbox.
    handle.post_to_worker(1, Color::new(2), || ()).ok().expect("there is such a worker");
    assert!(!scheduler.is_at_rest());
    step_until_at_rest(&handle, &mut workers);
    // A value of a color is no work.
    let cell = ColorCell::new_in(&handle, Color::new(3), 7);
    assert!(scheduler.is_at_rest());
    drop(cell);
    handle.scheduler().shut_down();
    for worker in &mut workers {
        while worker.step() == Step::Ran {}
    }
}

/// The lane of a guest's task is with the guest, and all workers are parked.
#[test]
fn it_is_not_at_rest_while_a_guest_runs() {
    let (handle, mut workers) = Scheduler::with_workers(1, 7, Box::new(NeverParks));
    let worker = &mut workers[0];
    let (begins, has_begun) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel::<()>();
    let guest = thread::spawn({
        let handle = handle.clone();
        move || {
            let future = async {
                begins.send(()).unwrap();
                goes_on.recv().unwrap();
                std::future::pending::<()>().await;
            };
            handle.block_on(future).is_ok()
        }
    });
    while has_begun.try_recv().is_err() {
        let _ = worker.step();
    }
    while worker.step() == Step::Ran {}
    assert!(!handle.scheduler().is_at_rest(), "the guest is in its poll");
    go_on.send(()).unwrap();
    while !handle.scheduler().is_at_rest() {
        thread::yield_now();
    }
    handle.scheduler().shut_down();
    while worker.step() != Step::Stopped {
        thread::yield_now();
    }
    assert!(guest.join().unwrap());
}
