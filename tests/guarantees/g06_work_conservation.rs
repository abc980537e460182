//! G6: no worker stays parked while a lane is runnable and stealable.

use colored::{spawn_colored, spawn_unique};
use colored_tests::attempts::within;
use colored_tests::{alone, block, meet, runtime, shared};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long the last of `lanes` lanes waits that a worker queues on itself before it gets stuck.
fn last_start(workers: usize, lanes: usize) -> Duration {
    let runtime = runtime(workers);
    // All workers have been parked for a while.
    colored_tests::wait_until(|| runtime.metrics().parked == workers);
    thread::sleep(Duration::from_millis(20));
    let (started, starts) = mpsc::channel();
    let stuck = runtime.handle().spawn_unique(async move {
        for _ in 0..lanes {
            let started = started.clone();
            drop(spawn_unique(async move { started.send(Instant::now()).unwrap() }));
        }
        let begin = Instant::now();
        block(Duration::from_millis(100));
        begin
    });
    let starts: Vec<_> = starts.iter().collect();
    assert_eq!(starts.len(), lanes);
    let begin = runtime.run(stuck).unwrap();
    starts.into_iter().map(|start| start.saturating_duration_since(begin)).max().unwrap()
}

/// Shows G6.
#[test]
fn a_hundred_lanes_behind_a_stuck_worker_start_elsewhere_within_10_ms() {
    alone(|| within(Duration::from_millis(10), || last_start(2, 100)));
    alone(|| within(Duration::from_millis(10), || last_start(8, 100)));
}

/// The lane that a worker would run next causes no wake-up. The reactor thread finds it: its slow
/// tick is 5 ms, and it takes two of them to tell stuck from busy.
/// Shows G6.
#[test]
fn one_lane_behind_a_stuck_worker_starts_elsewhere_within_15_ms() {
    alone(|| within(Duration::from_millis(15), || last_start(2, 1)));
    alone(|| within(Duration::from_millis(15), || last_start(8, 1)));
}

/// Shows G6.
#[test]
fn as_many_lanes_run_at_once_as_there_are_workers() {
    shared(|| {
        for workers in [2, 3, 8, 16] {
            let runtime = runtime(workers);
            for round in 0..50 {
                meet::all_at_once(&runtime, workers, round % 2 == 0);
            }
        }
    });
}

/// Shows G6.
#[test]
fn no_wake_up_is_lost_between_a_foreign_thread_and_parking_workers() {
    shared(|| {
        for workers in [1, 2, 8] {
            let runtime = runtime(workers);
            let (tell, told) = mpsc::channel();
            for number in 0..4_000u64 {
                let tell = tell.clone();
                drop(runtime.handle().spawn_colored(number % 3, async move {
                    tell.send(number).unwrap();
                }));
                assert_eq!(told.recv().unwrap(), number);
            }
        }
    });
}

/// Shows G6.
#[test]
fn no_wake_up_is_lost_between_workers() {
    colored_tests::run(8, async {
        for round in 0..2_000u64 {
            let (to, from) = colored::sync::oneshot::channel();
            let (back, answer) = colored::sync::oneshot::channel();
            drop(spawn_colored(round, async move { back.send(from.await.unwrap()).unwrap() }));
            drop(spawn_unique(async move { to.send(round).unwrap() }));
            assert_eq!(answer.await.unwrap(), round);
        }
    });
}
