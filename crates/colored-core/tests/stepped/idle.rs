//! Workers on their way to sleep, stepped by hand.

use crate::doubles::NeverParks;
use colored_core::{Color, Scheduler, Step};
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
