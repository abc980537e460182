//! A poll that holds its worker: the other colors go on.

use crate::support::{runtime, shared};
use colored::time::{Duration, Instant, sleep};
use colored::{spawn_colored, spawn_unique};
use std::thread;

/// 1,000 tasks of other colors finish long before the poll does, on the only worker.
#[test]
fn a_poll_that_sleeps_delays_no_other_color() {
    shared(|| {
        runtime(1).run(async {
            let begin = Instant::now();
            let sleeper = spawn_colored(1, async { thread::sleep(Duration::from_millis(400)) });
            let tasks: Vec<_> = (0..1000).map(|_| spawn_unique(async {})).collect();
            for task in tasks {
                task.await.unwrap();
            }
            let others = begin.elapsed();
            sleeper.await.unwrap();
            assert!(begin.elapsed() >= Duration::from_millis(400));
            assert!(others < Duration::from_millis(200), "{others:?}");
        });
    });
}

/// And again, with polls that hold the worker one after the other: the spare worker comes and goes.
#[test]
fn polls_that_sleep_again_and_again_lose_nothing() {
    shared(|| {
        let runtime = runtime(1);
        runtime.run(async {
            for round in 0..20 {
                let sleeper = spawn_colored(1, async { thread::sleep(Duration::from_millis(25)) });
                let tasks: Vec<_> = (0..200)
                    .map(|_| {
                        spawn_unique(async {
                            sleep(Duration::from_millis(1)).await;
                            colored::yield_now().await;
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
                sleeper.await.unwrap();
                if round % 3 == 0 {
                    sleep(Duration::from_millis(15)).await;
                }
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(30)).unwrap();
    });
}
