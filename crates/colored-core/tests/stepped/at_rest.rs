//! When a scheduler is at rest: the shell then moves a paused clock.

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{Color, ColorCell, Options, Rest, Scheduler, SchedulerHandle, Step, Worker};
use std::future::{pending, poll_fn};
use std::sync::mpsc;
use std::task::Poll;
use std::thread;

/// Workers that were called take a look, or a break, before they park.
fn step_until_at_rest(handle: &SchedulerHandle, workers: &mut [Worker]) {
    for _ in 0..100 {
        for worker in &mut *workers {
            let _ = worker.step();
        }
        if handle.scheduler().rest().is_some() {
            return;
        }
    }
    panic!("it has nothing to do, and is not at rest");
}

/// Counts the live tasks when it is dropped.
struct Look(SchedulerHandle, mpsc::Sender<u64>);

impl Drop for Look {
    fn drop(&mut self) {
        let _ = self.1.send(self.0.scheduler().live_tasks());
    }
}

/// The worker counts the end of a task before the output leaves it.
#[test]
fn the_live_tasks_are_those_that_have_not_ended() {
    let (handle, mut workers) = Scheduler::with_workers(2, 7, Box::new(NeverParks));
    let scheduler = handle.scheduler();
    let (tell, told) = mpsc::channel();
    let seen = Look(handle.clone(), tell);
    drop(handle.spawn_unique(async move { seen }));
    step_until_at_rest(&handle, &mut workers);
    assert_eq!(told.recv(), Ok(0));
    let waiting = handle.spawn_unique(pending::<()>());
    let spawner = handle.clone();
    drop(handle.spawn_colored(Color::new(1), async move { drop(spawner.spawn_unique(async {})) }));
    assert_eq!(scheduler.live_tasks(), 2);
    step_until_at_rest(&handle, &mut workers);
    assert_eq!(scheduler.live_tasks(), 1);
    waiting.abort();
    step_until_at_rest(&handle, &mut workers);
    assert_eq!(scheduler.live_tasks(), 0);
    drop(handle.spawn_colored(Color::new(1), pending::<()>()));
    stop(&handle, &mut workers);
    assert_eq!(scheduler.live_tasks(), 0);
}

#[test]
fn it_is_at_rest_when_all_workers_are_parked_and_no_lane_waits() {
    let (handle, mut workers) = Scheduler::with_workers(2, 7, Box::new(NeverParks));
    let scheduler = handle.scheduler();
    assert!(scheduler.rest().is_none(), "no worker has looked yet");
    for worker in &mut workers {
        assert!(scheduler.rest().is_none());
        assert_eq!(worker.step(), Step::Park(None));
    }
    assert!(scheduler.rest().is_some());
    let task = handle.spawn_colored(Color::new(1), async { 7 });
    assert!(scheduler.rest().is_none(), "a lane waits");
    while workers[0].step() != Step::Park(None) {
        assert!(scheduler.rest().is_none(), "the worker is awake");
    }
    assert!(task.is_finished());
    step_until_at_rest(&handle, &mut workers);
    // A lane for one worker, in its inbox.
    handle.post_to_worker(1, Color::new(2), || ()).ok().expect("there is such a worker");
    assert!(scheduler.rest().is_none());
    step_until_at_rest(&handle, &mut workers);
    // A value of a color is no work.
    let cell = ColorCell::new_in(&handle, Color::new(3), 7);
    assert!(scheduler.rest().is_some());
    drop(cell);
    handle.scheduler().shut_down();
    for worker in &mut workers {
        while worker.step() == Step::Ran {}
    }
}

/// A worker runs a lane, or only leaves the parked ones, between two looks. Both looks find the scheduler at rest, and it
/// is not the same rest.
#[test]
fn a_rest_ends_when_a_worker_leaves_the_parked_ones() {
    let (handle, mut workers) = Scheduler::with_workers(2, 7, Box::new(NeverParks));
    let scheduler = handle.scheduler();
    step_until_at_rest(&handle, &mut workers);
    let rest = scheduler.rest();
    assert!(rest.is_some());
    assert_eq!(scheduler.rest(), rest, "nothing has run");
    handle.post_to_worker(1, Color::new(1), || ()).ok().expect("there is such a worker");
    step_until_at_rest(&handle, &mut workers);
    let after_lane = scheduler.rest();
    assert!(after_lane.is_some());
    assert_ne!(after_lane, rest);
    workers[0].batch(1, || ());
    assert!(scheduler.rest().is_none(), "the worker has taken an event");
    step_until_at_rest(&handle, &mut workers);
    assert_ne!(scheduler.rest(), after_lane);
    handle.scheduler().shut_down();
    for worker in &mut workers {
        while worker.step() == Step::Ran {}
    }
}

/// A spare worker joins, runs a lane and leaves without having parked.
#[test]
fn a_rest_ends_when_a_spare_worker_joins() {
    let options = Options { spares: 1, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(1, 7, Box::new(NeverParks), options);
    let scheduler = handle.scheduler();
    step_until_at_rest(&handle, &mut workers);
    let rest = scheduler.rest();
    scheduler.want_spares(1);
    assert_eq!(workers[1].step(), Step::Park(None));
    scheduler.want_spares(0);
    assert_eq!(workers[1].step(), Step::Park(None));
    assert!(workers[1].is_absent());
    assert!(scheduler.rest().is_some());
    assert_ne!(scheduler.rest(), rest);
    handle.scheduler().shut_down();
    for worker in &mut workers {
        while worker.step() == Step::Ran {}
    }
}

/// The lane of a guest's task is with the guest, and all workers are parked. Then this thread, which is no worker, wakes the
/// guest, and no worker has to do with it.
#[test]
fn it_is_not_at_rest_while_a_guest_runs() {
    let (handle, mut workers) = Scheduler::with_workers(1, 7, Box::new(NeverParks));
    let worker = &mut workers[0];
    let (begins, has_begun) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel::<()>();
    let guest = thread::spawn({
        let handle = handle.clone();
        move || {
            let future = poll_fn(|context| {
                begins.send(context.waker().clone()).unwrap();
                goes_on.recv().unwrap();
                Poll::<()>::Pending
            });
            handle.block_on(future).is_ok()
        }
    });
    let waker = loop {
        match has_begun.try_recv() {
            Ok(waker) => break waker,
            Err(_) => drop(worker.step()),
        }
    };
    while worker.step() == Step::Ran {}
    assert!(handle.scheduler().rest().is_none(), "the guest is in its poll");
    go_on.send(()).unwrap();
    let rest = wait_for_rest(&handle);
    waker.wake();
    let _again = has_begun.recv().unwrap();
    assert!(handle.scheduler().rest().is_none(), "the guest is in its second poll");
    go_on.send(()).unwrap();
    assert_ne!(wait_for_rest(&handle), rest, "a guest has run in between");
    handle.scheduler().shut_down();
    while worker.step() != Step::Stopped {
        thread::yield_now();
    }
    assert!(guest.join().unwrap());
}

fn wait_for_rest(handle: &SchedulerHandle) -> Rest {
    loop {
        match handle.scheduler().rest() {
            Some(rest) => return rest,
            None => thread::yield_now(),
        }
    }
}
