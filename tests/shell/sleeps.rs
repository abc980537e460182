//! How exact a sleep is.

use colored::runtime::Tuning;
use colored::time::{Duration, Instant, interval, sleep};
use colored::{Runtime, spawn_unique};
use colored_tests::{run, watched};

/// Each is longer than the resolution, so no other timer delays it.
#[test]
fn no_sleep_is_early_and_a_short_one_is_not_late_by_a_millisecond() {
    let fine = Tuning::new().timer_resolution(Duration::from_micros(200));
    watched(move || {
        for (tuning, micros) in [(Tuning::new(), 1_100), (fine, 300)] {
            let time = Duration::from_micros(micros);
            let runtime = Runtime::builder().workers(2).tuning(tuning).build().expect("it starts");
            let late = runtime.run(async move {
                let mut late = Vec::new();
                for _ in 0..200 {
                    let start = Instant::now();
                    sleep(time).await;
                    late.push(start.elapsed().checked_sub(time).expect("no sleep is early"));
                }
                late
            });
            // A machine that is busy spoils many of them, a clock that is coarse spoils them all.
            let least = late.into_iter().min().expect("there are 200");
            if cfg!(any(target_os = "linux", target_os = "android")) {
                assert!(least < Duration::from_micros(250), "{micros} us: {least:?}");
            }
        }
    });
}

#[test]
fn no_resolution_makes_a_sleep_early_or_loses_one() {
    watched(|| {
        for micros in [0, 16, 200, 10_000] {
            let resolution = Duration::from_micros(micros);
            let builder =
                Runtime::builder().workers(2).tuning(Tuning::new().timer_resolution(resolution));
            let runtime = builder.build().expect("it is in range");
            runtime.run(async {
                let sleeper = |index: u64| async move {
                    for round in 1..=4 {
                        let time = Duration::from_micros(37 * index * round % 5_000);
                        let start = Instant::now();
                        sleep(time).await;
                        assert!(start.elapsed() >= time);
                    }
                };
                let tasks: Vec<_> = (0..200).map(|index| spawn_unique(sleeper(index))).collect();
                for task in tasks {
                    task.await.expect("its assertions hold");
                }
            });
        }
    });
}

#[test]
fn an_interval_of_less_than_a_millisecond_keeps_its_grid() {
    const PERIOD: Duration = Duration::from_micros(400);
    watched(|| {
        run(1, async {
            let mut ticks = interval(PERIOD);
            let first = ticks.tick().await;
            for tick in 1..=100 {
                let due = ticks.tick().await;
                assert_eq!(due, first + tick * PERIOD);
                assert!(Instant::now() >= due, "tick {tick} is early");
            }
        });
    });
}
