//! Tasks of tokio in a simulation.

use colored::sim::{self, Builder};
use colored::task::yield_now;
use colored::time::{Duration, Instant, sleep};
use colored::{Color, ColorCell, spawn_colored};

const SECOND: Duration = Duration::from_secs(1);

#[colored::test(sim, tokio, seeds = 100)]
async fn they_use_what_is_the_hosts() {
    let (cell, begin) = (ColorCell::new(1, 0), Instant::now());
    let tasks: Vec<_> = (1..4)
        .map(|number| {
            let cell = cell.clone();
            tokio::spawn(async move {
                assert_eq!((Color::current(), sim::is_on()), (None, true));
                sleep(number * SECOND).await;
                cell.call(move |sum| *sum += number).await;
                // Of the other runtime, and back.
                let of_ours = spawn_colored(2, async { tokio::spawn(yield_now()).await });
                of_ours.await.unwrap().unwrap();
                tokio::task::yield_now().await;
                begin.elapsed()
            })
        })
        .collect();
    let mut took = Vec::new();
    for task in tasks {
        took.push(task.await.unwrap());
    }
    assert_eq!(took, [SECOND, 2 * SECOND, 3 * SECOND]);
    assert_eq!(cell.call(|sum| *sum).await, 6);
    // What nobody waits for ends with the run.
    drop(tokio::spawn(std::future::pending::<()>()));
}

#[colored::test(sim, tokio, seeds = 10)]
async fn what_waits_for_real_time_panics() {
    let error = tokio::spawn(async { tokio::time::sleep(SECOND).await }).await.unwrap_err();
    assert!(error.to_string().contains("timers are disabled"), "{error}");
}

/// A task of ours that reads, and later writes; and one of tokio's that writes in between.
#[test]
fn a_schedule_between_both_is_found() {
    let report = Builder::new().tokio().run(|| async {
        let cell = ColorCell::new(1, 0);
        let (ours, theirs) = (cell.clone(), cell.clone());
        let one = spawn_colored(2, async move {
            let seen = ours.call(|sum| *sum).await;
            ours.call(move |sum| *sum = seen + 1).await;
        });
        let other = tokio::spawn(async move { theirs.call(|sum| *sum += 1).await });
        one.await.unwrap();
        other.await.unwrap();
        sim::always!(cell.call(|sum| *sum).await == 2, "both count");
    });
    let failure = report.failure().unwrap_or_else(|| panic!("not found: {report}"));
    assert_eq!(failure.differs(), None, "{failure}");
    assert!(failure.to_string().contains("a blocking call, or tasks of tokio"), "{failure}");
}

#[test]
fn without_the_option_there_is_no_runtime_of_tokio() {
    let report = Builder::new().seeds(0..1).run(|| async { drop(tokio::spawn(async {})) });
    let failure = report.failure().expect("tokio panics");
    assert!(failure.message().contains("there is no reactor running"), "{failure}");
}
