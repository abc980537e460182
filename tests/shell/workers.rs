//! The number of workers changes while the runtime runs.

use colored::sync::oneshot;
use colored::{Handle, Runtime, spawn_local, spawn_unique};
use colored_tests::{shared, storm, wait_until};
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

/// Only `set_workers` adds a worker: there are no spare ones for long polls.
fn growing(workers: usize, max: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers).max_workers(max).spare_workers(0);
    builder.build().unwrap()
}

/// Tasks that are all in a poll at one time: it takes so many workers.
fn meet(handle: &Handle, count: usize) -> Vec<colored::JoinHandle<()>> {
    let meeting = Arc::new(Barrier::new(count));
    let task = |_| {
        let meeting = Arc::clone(&meeting);
        handle.spawn_unique(async move {
            meeting.wait();
        })
    };
    (0..count).map(task).collect()
}

/// Waits until exactly so many workers are there, and idle.
fn wait_for(runtime: &Runtime, workers: usize) {
    assert_eq!(runtime.handle().workers(), workers);
    wait_until(|| runtime.metrics().parked == workers);
}

#[test]
fn workers_come_while_tasks_wait_for_them_and_go() {
    shared(|| {
        let runtime = growing(1, 4);
        wait_for(&runtime, 1);
        for round in 0..10 {
            let tasks = meet(runtime.handle(), 4);
            runtime.handle().set_workers(4).unwrap();
            runtime.run(async {
                for task in tasks {
                    task.await.unwrap()
                }
            });
            wait_for(&runtime, 4);
            let fewer = 1 + round % 3;
            runtime.handle().set_workers(fewer).unwrap();
            wait_for(&runtime, fewer);
            let tasks = meet(runtime.handle(), fewer);
            runtime.run(async {
                for task in tasks {
                    task.await.unwrap()
                }
            });
        }
        runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
    });
}

/// G1 and G2 hold, and no work is left behind, while workers come and go all the time; and at a shutdown then.
#[test]
fn a_storm_while_workers_come_and_go() {
    shared(|| {
        let runtime = growing(1, 4);
        let over = Arc::new(AtomicBool::new(false));
        let (handle, ends) = (runtime.handle().clone(), Arc::clone(&over));
        let changes = thread::spawn(move || {
            for number in 0.. {
                handle.set_workers(1 + number % 4).unwrap();
                thread::sleep(Duration::from_millis(6));
                if ends.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        storm::rage(&runtime, 20_000);
        storm::wander_until_shutdown(runtime, 48, 5);
        over.store(true, Ordering::Relaxed);
        changes.join().unwrap();
    });
}

#[test]
fn a_local_task_of_a_worker_that_has_left_still_runs_there() {
    shared(|| {
        let runtime = growing(1, 3);
        runtime.handle().set_workers(3).unwrap();
        wait_for(&runtime, 3);
        let locals = runtime.run(async {
            let meeting = Arc::new(Barrier::new(3));
            let tasks = [(); 3].map(|()| {
                let (meeting, (wake, woken)) = (Arc::clone(&meeting), oneshot::channel::<()>());
                let (tell, told) = oneshot::channel();
                let place = spawn_unique(async move {
                    meeting.wait();
                    drop(spawn_local(async move {
                        woken.await.unwrap();
                        tell.send(thread::current().id()).unwrap();
                    }));
                    thread::current().id()
                });
                (place, wake, told)
            });
            let mut locals = Vec::new();
            for (place, wake, told) in tasks {
                locals.push((place.await.unwrap(), wake, told));
            }
            locals
        });
        runtime.handle().set_workers(1).unwrap();
        wait_for(&runtime, 1);
        runtime.run(async move {
            for (place, wake, told) in locals {
                wake.send(()).unwrap();
                assert_eq!(told.await.unwrap(), place);
            }
        });
        wait_for(&runtime, 1);
    });
}

#[test]
fn a_number_out_of_range_is_an_error_that_names_the_range() {
    shared(|| {
        let says = |error: std::io::Error, text: &str| {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().starts_with(text), "{error}");
        };
        let runtime = growing(2, 3);
        for workers in [0, 1, 4] {
            let error = runtime.handle().set_workers(workers).unwrap_err();
            says(error, &format!("set_workers({workers}): allowed are 2 to 3, by"));
        }
        assert_eq!(runtime.handle().workers(), 2);
        let fixed = Runtime::builder().workers(2).build().unwrap();
        says(fixed.handle().set_workers(3).unwrap_err(), "set_workers(3): allowed are 2 to 2");
        let builder = Runtime::builder().workers(2).max_workers(1);
        says(builder.build().unwrap_err(), "max_workers(1): allowed are 2 to 1024");
    });
}
