//! What a run is, and what its report says.

use super::{failure, passes};
use colored::sim::{Builder, Strategy, always, buggify, random, sometimes};
use colored::time::{Duration, Instant, sleep, timeout};
use colored::{
    Color, ColorCell, exclusive, spawn, spawn_blocking, spawn_colored, spawn_unique, yield_now,
};
use colored_tests::join_all;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Tasks of a few colors that call, send, sleep and block; they add what they see to a trail.
pub(super) async fn busy() -> Vec<u64> {
    let trail = ColorCell::new(100, Vec::new());
    join_all((0..12_u64).map(|number| {
        let trail = trail.clone();
        spawn_colored(number % 5, async move {
            for round in 0..4 {
                trail.call(move |trail| trail.push(number * 10 + round)).await;
                match random() % 4 {
                    0 => yield_now().await,
                    1 => sleep(Duration::from_millis(random() % 3)).await,
                    2 => spawn_blocking(|| ()).await.unwrap(),
                    _ => spawn_unique(async {}).await.unwrap(),
                }
            }
        })
    }))
    .await;
    trail.call(std::mem::take).await
}

/// All trails of these seeds.
fn trails(seeds: std::ops::Range<u64>) -> Vec<Vec<u64>> {
    let trails = Arc::new(Mutex::new(Vec::new()));
    let report = Builder::new().seeds(seeds).jobs(1).run(|| {
        let trails = Arc::clone(&trails);
        async move {
            let trail = busy().await;
            trails.lock().unwrap().push(trail);
        }
    });
    report.assert_passed();
    std::mem::take(&mut *trails.lock().unwrap())
}

#[test]
fn a_seed_makes_the_same_run_again() {
    // Seeds 0 and 64 are run twice each.
    let (first, second) = (trails(0..100), trails(0..100));
    assert_eq!(first.len(), 102);
    assert_eq!(first, second);
    let mut different = first.clone();
    different.sort();
    different.dedup();
    assert!(different.len() > 90, "{} different runs", different.len());
}

#[test]
fn each_color_keeps_its_guarantees() {
    let _report = passes(|| async {
        let line = ColorCell::new(7, Vec::new());
        join_all((0..6).map(|number| {
            let line = line.clone();
            spawn_colored(7, async move {
                assert_eq!(Color::current(), Some(Color::new(7)));
                line.with(|line| line.push(number));
            })
        }))
        .await;
        assert_eq!(line.call(std::mem::take).await, [0, 1, 2, 3, 4, 5]);
    });
}

#[test]
fn time_is_the_simulations_own() {
    let begin = std::time::Instant::now();
    Builder::new()
        .seeds(0..50)
        .run(|| async {
            let begin = Instant::now();
            let long = spawn(async { sleep(Duration::from_secs(3600)).await });
            assert!(
                timeout(Duration::from_secs(60), sleep(Duration::from_secs(61))).await.is_err()
            );
            assert_eq!(begin.elapsed().as_secs(), 60);
            long.await.unwrap();
            assert_eq!(begin.elapsed().as_secs(), 3600);
        })
        .assert_passed();
    assert!(begin.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_wait_in_a_section_that_cannot_end_is_found() {
    let found = failure(|| async {
        let cell = ColorCell::new(1, ());
        let section = spawn_colored(1, async move {
            exclusive(spawn_colored(2, async move {
                // Under color 2, which the caller waits for.
                cell.call(|()| ()).await;
            }))
            .await
        });
        section.await.unwrap().unwrap();
    });
    assert!(found.message().to_lowercase().contains("deadlock"), "{found}");
}

#[test]
fn a_replay_is_the_run_that_failed() {
    let program = || async {
        let cell = ColorCell::new(1, 0);
        let add = |color: u64| {
            let cell = cell.clone();
            spawn_colored(color, async move {
                let seen = cell.call(|value| *value).await;
                cell.call(move |value| *value = seen + 1).await;
            })
        };
        let (one, two) = (add(2), add(3));
        one.await.unwrap();
        two.await.unwrap();
        always!(cell.call(|value| *value).await == 2, "both count");
    };
    let found = failure(program);
    assert!(
        found.message().starts_with("not always: both count\n  at tests/sim/runs.rs"),
        "{found}"
    );
    let text = found.to_string();
    assert!(text.contains(&format!("again: COLORED_SIM_REPLAY={}", found.replay())), "{text}");
    assert!(text.contains("confirmed by a second run"), "{text}");
    // Each turn says what it has called, and where.
    assert!(text.contains(", calls color 0x1 at tests/sim/runs.rs:"), "{text}");
}

#[test]
fn a_unique_color_has_a_short_name() {
    let found = failure(|| async {
        let task = spawn_unique(async { panic!("under {}", Color::current().unwrap()) });
        task.await.unwrap();
    });
    assert!(found.message().contains("under color unique-1"), "{found}");
    assert!(found.to_string().contains("  color unique-1, task 2, spawned at "), "{found}");
}

#[test]
#[should_panic = "failures would be appended to this source file; give a file of their own, such as \"tests/bank.sim-failures\""]
fn failures_are_not_appended_to_a_source_file() {
    let _ = Builder::new().keep_failures("tests/bank.rs", "a-name");
}

#[test]
fn every_strategy_finds_a_lost_update() {
    for strategy in
        [Strategy::Random, Strategy::Pct { depth: 2 }, Strategy::Pct { depth: 3 }, Strategy::Starve]
    {
        let report = Builder::new().strategy(strategy).run(|| async {
            let cell = ColorCell::new(1, 0);
            let add = |color: u64| {
                let cell = cell.clone();
                spawn_colored(color, async move {
                    for _ in 0..3 {
                        yield_now().await;
                    }
                    let seen = cell.call(|value| *value).await;
                    yield_now().await;
                    cell.call(move |value| *value = seen + 1).await;
                })
            };
            let (one, two) = (add(2), add(3));
            one.await.unwrap();
            two.await.unwrap();
            assert_eq!(cell.call(|value| *value).await, 2);
        });
        assert!(report.failure().is_some(), "{strategy:?}: {report}");
    }
}

#[test]
fn faults_happen_and_are_kept_only_where_they_are_needed() {
    let found = failure(|| async {
        let mut failures = 0;
        for _ in 0..20 {
            // Of no use for the failure.
            let _ = buggify!(3);
            failures += u32::from(buggify!());
            yield_now().await;
        }
        assert!(failures < 2, "two failures");
    });
    assert!(found.message().contains("two failures"));
    assert_eq!(found.choices(), 2, "{found}");
    assert!(!buggify!(1), "outside a simulation nothing fails");
}

#[test]
fn what_never_happened_is_listed() {
    let report = passes(|| async {
        let late = spawn_colored(1, async {});
        yield_now().await;
        sometimes!(late.is_finished(), "it is done at once");
        sometimes!(!late.is_finished(), "it is not");
        sometimes!(random() == 0, "one in 2⁶⁴");
        late.await.unwrap();
    });
    assert_eq!(report.never_seen(), ["one in 2⁶⁴"]);
    assert!(report.to_string().ends_with("never seen: one in 2⁶⁴"), "{report}");
}

#[test]
fn a_run_that_depends_on_something_else_is_reported() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let by_hash_order = || async {
        let colors: HashMap<u64, ()> = (0..50).map(|color| (color, ())).collect();
        join_all(colors.into_keys().map(|color| {
            spawn_colored(color, async move {
                for _ in 0..color {
                    yield_now().await
                }
            })
        }))
        .await;
    };
    let by_a_static = || async {
        for _ in 0..RUNS.fetch_add(1, SeqCst) {
            yield_now().await;
        }
    };
    for report in [Builder::new().run(by_hash_order), Builder::new().run(by_a_static)] {
        let failure = report.failure().expect("the first seed is run twice");
        assert_eq!(failure.differs(), Some("it makes other turns"));
        assert!(failure.to_string().contains("a HashMap"), "{failure}");
    }
}
