//! Programs that wait for locks, and for colors that are kept.

use super::{assert_named, each, ms, unique, visitors};
use colored::diagnose::Options;
use colored::diagnose::report::{Fault, Waiting};
use colored::time::sleep;
use colored::{Builder, Color, exclusive, spawn_unique, sync};
use colored_tests::{alone, attempts};
use std::future::pending;
use std::sync::Arc;

/// Each of two tasks has one lock, and waits for the other's.
#[test]
fn two_locks_in_two_orders_are_named() {
    assert_named(Some(Fault::LockWait), || {
        visitors();
        let locks = [(); 2].map(|()| Arc::new(sync::Mutex::new(())));
        each(2, unique, |n| {
            let [first, second] = [0, 1].map(|at| Arc::clone(&locks[(n as usize + at) % 2]));
            async move {
                let _first = first.lock().await;
                sleep(ms(5)).await;
                let _second = second.lock().await;
            }
        });
    });
}

/// Most of the tasks never had a turn.
#[test]
fn a_section_that_never_ends_keeps_its_color() {
    assert_named(Some(Fault::StuckColor), || {
        visitors();
        each(5, |_| Color::named("kept"), async |_| exclusive(pending()).await);
    });
}

/// What the runtime does not know is no fault, and is not denied.
#[test]
fn waits_for_something_of_their_own_are_counted_by_the_place_of_the_spawn() {
    alone(|| {
        attempts::some(|| {
            let quiet = Options::new().warnings(false);
            let runtime = Builder::new().workers(2).diagnose(quiet).build().expect("it starts");
            let line = runtime.run(async {
                let line = line!() + 1;
                (0..7).for_each(|_| drop(spawn_unique(pending::<()>())));
                sleep(ms(50)).await;
                line
            });
            let report = runtime.handle().observe_blocking(ms(200));
            println!("{report}");
            runtime.shutdown_background();
            let is_own = |wait: &&Waiting| wait.what == "other" && wait.spawned.line() == line;
            let own = report.waits.iter().find(is_own);
            let text = report.to_string();
            report.fault().is_none()
                && own.is_some_and(|wait| wait.tasks >= 6.9 && wait.part >= 0.99)
                && text.contains("7 tasks spawned at ")
                && !text.contains("nothing limits")
        });
    });
}

#[test]
fn permits_that_bound_what_runs_are_no_fault() {
    assert_named(None, || {
        let permits = Arc::new(sync::Semaphore::new(3));
        each(12, unique, |_| {
            let permits = Arc::clone(&permits);
            async move {
                loop {
                    let _permit = permits.acquire().await;
                    sleep(ms(3)).await;
                }
            }
        });
    });
}
