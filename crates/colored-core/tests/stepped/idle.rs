//! Workers on their way to sleep, stepped by hand.

use crate::doubles::{Bells, NeverParks};
use crate::stopping::stop;
use colored_core::{Color, ColorCell, Options, Scheduler, SchedulerHandle, Step, when, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Enough others search, so a worker does not look at the queues of the others before it announces its sleep. After
/// that it looks, and finds a lane: it says that it has turned back, and the next step runs the lane.
#[test]
fn a_worker_that_finds_a_lane_after_it_has_announced_its_sleep_turns_back() {
    let (handle, mut workers) = Scheduler::with_workers(4, 7, Box::new(NeverParks));
    let [busy, turns_back, searching @ ..] = &mut workers[..] else { panic!("four workers") };
    for worker in &mut *searching {
        assert_eq!(worker.step(), Step::Park(None));
    }
    let ran = Arc::new(AtomicUsize::new(0));
    let (spawner, count) = (handle.clone(), Arc::clone(&ran));
    let spawns = move || {
        for _ in 0..3 {
            let count = Arc::clone(&count);
            drop(spawner.spawn_unique(async move { count.fetch_add(1, SeqCst) }));
        }
    };
    handle.post_to_worker(0, Color::new(1), spawns).ok().expect("there is such a worker");
    assert_eq!(busy.step(), Step::Ran);
    for worker in searching.iter() {
        // The post wakes the worker, which counts as searching from now on.
        let sent = handle.post_to_worker(worker.index(), Color::new(2), || ());
        sent.ok().expect("there is such a worker");
    }
    assert_eq!((turns_back.step(), turns_back.has_turned_back()), (Step::Ran, true));
    assert_eq!(ran.load(SeqCst), 0, "that step runs nothing");
    assert_eq!((turns_back.step(), turns_back.has_turned_back()), (Step::Ran, false));
    assert_eq!(ran.load(SeqCst), 1);
    handle.scheduler().shut_down();
    for worker in &mut workers {
        while worker.step() == Step::Ran {}
    }
}

/// One that wakes up without work is not alone while another one is in a slice.
#[test]
fn a_worker_is_alone_if_it_has_woken_up_and_all_others_are_parked() {
    let (handle, mut workers) = Scheduler::with_workers(2, 7, Box::new(NeverParks));
    let [one, other] = &mut workers[..] else { panic!("two workers") };
    let scheduler = handle.scheduler();
    assert_eq!(other.step(), Step::Park(None));
    assert!(!scheduler.all_parked() && scheduler.others_parked(), "the one is awake, and alone");
    other.wake_up();
    assert!(!scheduler.others_parked(), "two are awake");
    assert_eq!([one.step(), other.step()], [Step::Park(None); 2]);
    assert!(scheduler.all_parked());
    other.wake_up();
    assert!(!scheduler.all_parked() && scheduler.others_parked());
    scheduler.shut_down();
    for worker in &mut workers {
        while worker.step() == Step::Ran {}
    }
}

/// One lane is in the `next` slot, and the other one has filled its slice: the worker has more than it runs next.
#[test]
fn a_lane_that_is_put_back_behind_the_next_one_wakes_another_worker() {
    let bells = Bells::default();
    let options = Options { slice_polls: 1, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(2, 7, Box::new(bells.clone()), options);
    let spawner = handle.clone();
    let spawns = async move {
        drop(spawner.spawn_colored(Color::new(2), async {}));
        yield_now().await;
    };
    let sent = handle.post_to_worker(0, Color::new(9), move || {
        drop(SchedulerHandle::with_current(|handle| {
            handle.unwrap().spawn_colored(Color::new(1), spawns)
        }));
    });
    sent.ok().expect("there is such a worker");
    assert_eq!(workers[0].step(), Step::Ran);
    assert_eq!(workers[1].step(), Step::Park(Some(1_000_000)), "a `next` slot is full");
    assert_eq!((workers[0].step(), bells.of(1)), (Step::Ran, 1));
    stop(&handle, &mut workers);
}

#[test]
fn without_work_nobody_is_rescued() {
    let bells = Bells::default();
    let (handle, mut workers) = Scheduler::with_workers(2, 7, Box::new(bells.clone()));
    assert_eq!([workers[0].step(), workers[1].step()], [Step::Park(None); 2]);
    handle.scheduler().rescue();
    assert_eq!(bells.rung(), 0);
    stop(&handle, &mut workers);
}

/// The lane of a task whose `when` has had to wait goes behind all others, and there are none.
#[test]
fn a_worker_whose_only_lane_is_behind_the_others_runs_it_next() {
    let (handle, mut workers) = Scheduler::with_workers(1, 7, Box::new(NeverParks));
    let cells = [2, 3].map(|color| ColorCell::new_in(&handle, Color::new(color), ()));
    let spawner = handle.clone();
    let mut task = handle.spawn_colored(Color::new(1), async move {
        drop(spawner.spawn_colored(Color::new(2), yield_now()));
        when((&cells[0], &cells[1]), |(), ()| ()).await;
    });
    while workers[0].step() == Step::Ran {
        assert!(!workers[0].has_turned_back());
    }
    assert!(task.try_take().is_some_and(|ended| ended.is_ok()));
    stop(&handle, &mut workers);
}
