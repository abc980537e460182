//! `time::advance`.

use super::{HOUR, paused, run};
use colored::time::{Duration, Instant, advance, interval, resume, sleep};
use colored_tests::polls::waits;
use colored_tests::{panic_of, watched};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

const NANO: Duration = Duration::from_nanos(1);

#[test]
fn time_moves_by_exactly_so_much() {
    run(2, async {
        let start = Instant::now();
        let sleeper = colored::spawn_unique(sleep(HOUR));
        colored::yield_now().await;
        for _ in 0..10 {
            advance(NANO).await;
        }
        assert_eq!(start.elapsed(), NANO * 10);
        advance(HOUR - NANO * 11).await;
        assert!(!sleeper.is_finished());
        assert_eq!(start.elapsed(), HOUR - NANO);
        advance(NANO).await;
        assert_eq!(start.elapsed(), HOUR);
        assert!(sleeper.is_finished(), "its task has run");
        advance(Duration::ZERO).await;
        assert_eq!(start.elapsed(), HOUR);
    });
}

/// Every task that a timer on the way wakes has run before the next timer fires, also if it sleeps again.
#[test]
fn timers_on_the_way_fire_in_order_and_at_their_times() {
    for workers in [1, 2, 4] {
        let seen = run(workers, async {
            let (start, seen) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
            for period in [3, 5, 7_u64] {
                let seen = Arc::clone(&seen);
                drop(colored::spawn_unique(async move {
                    loop {
                        sleep(Duration::from_secs(period)).await;
                        colored::yield_now().await;
                        seen.lock().unwrap().push(start.elapsed().as_secs());
                    }
                }));
            }
            advance(Duration::from_secs(21)).await;
            assert_eq!(start.elapsed().as_secs(), 21);
            seen.lock().unwrap().clone()
        });
        assert_eq!(seen, [3, 5, 6, 7, 9, 10, 12, 14, 15, 15, 18, 20, 21, 21], "{workers} workers");
    }
}

#[test]
fn several_tasks_may_advance_at_the_same_time() {
    run(3, async {
        let start = Instant::now();
        let tasks: Vec<_> = (1..=10)
            .map(|hours| {
                colored::spawn_unique(async move {
                    advance(HOUR * hours).await;
                    start.elapsed()
                })
            })
            .collect();
        for (hours, task) in (1..).zip(tasks) {
            assert_eq!(task.await.unwrap(), HOUR * hours);
        }
    });
}

/// Also on a thread inside `block_on`, where no worker is awake.
#[test]
fn the_calling_thread_may_advance() {
    watched(|| {
        let (runtime, ticks) = (paused(2), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&ticks);
        drop(runtime.spawn(async move {
            let mut every_second = interval(Duration::from_secs(1));
            loop {
                every_second.tick().await;
                count.fetch_add(1, SeqCst);
            }
        }));
        runtime.block_on(async {
            colored::spawn(async {}).await.unwrap();
            advance(Duration::from_millis(59_999)).await;
            assert_eq!(ticks.load(SeqCst), 60);
            advance(Duration::from_millis(1)).await;
            assert_eq!(ticks.load(SeqCst), 61);
        });
    });
}

#[test]
fn an_advance_that_is_dropped_leaves_time_alone() {
    run(2, async {
        let start = Instant::now();
        colored::time::timeout(HOUR, advance(HOUR * 2)).await.unwrap_err();
        assert_eq!(start.elapsed(), HOUR);
        sleep(HOUR).await;
        assert_eq!(start.elapsed(), HOUR * 2);
    });
}

#[test]
fn an_advance_ends_when_time_is_resumed() {
    run(2, async {
        let start = Instant::now();
        let mut advances = pin!(advance(HOUR));
        assert!(waits(advances.as_mut()).await);
        resume();
        advances.await;
        assert!(start.elapsed() < HOUR);
    });
}

#[test]
fn a_clock_that_moves_is_not_advanced() {
    watched(|| {
        let runtime = colored_tests::runtime(1);
        let text = panic_of(|| runtime.run(advance(HOUR)));
        assert!(
            text.contains("the clock of this runtime is not paused: call `time::pause` first"),
            "{text}"
        );
    });
}
