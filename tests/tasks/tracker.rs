//! `TaskTracker` and `CancellationToken`.

use colored::task::{CancellationToken, TaskTracker};
use colored::time::{Duration, sleep, timeout};
use colored::{Color, yield_now};
use colored_tests::{ON_PURPOSE, run};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Whoever waits finds each future dropped: those that are done, that panic, and that are aborted.
#[test]
fn a_wait_ends_when_all_futures_are_dropped() {
    run(2, async {
        for _ in 0..50 {
            let (tracker, dropped) = (TaskTracker::new(), Arc::new(AtomicUsize::new(0)));
            let mut aborts = Vec::new();
            for task in 0..30_u64 {
                let counted = Counted(Arc::clone(&dropped));
                let handle = tracker.spawn_colored(task % 7, async move {
                    let _counted = counted;
                    yield_now().await;
                    match task % 3 {
                        0 => {}
                        1 => panic!("{ON_PURPOSE}"),
                        _ => pending().await,
                    }
                });
                if task % 3 == 2 {
                    aborts.push(handle);
                }
            }
            assert!(tracker.close() && !tracker.close() && tracker.is_closed());
            for handle in aborts {
                handle.abort();
            }
            tracker.wait().await;
            assert_eq!((dropped.load(SeqCst), tracker.len()), (30, 0));
        }
    });
}

#[test]
fn every_way_to_spawn_counts_and_keeps_its_color() {
    run(2, async {
        let tracker = TaskTracker::new();
        let color = || async { Color::current() };
        let seven = Color::new(7);
        let handles = [
            tracker.spawn(color()),
            tracker.spawn_here(color()),
            tracker.spawn_colored(seven, color()),
            tracker.spawn_unique(color()),
            tracker.spawn_blocking(Color::current),
            colored::spawn(tracker.track_future(color())),
        ];
        let mut colors = Vec::new();
        for handle in handles {
            colors.push(handle.await.unwrap());
        }
        let default = Some(Color::DEFAULT);
        assert_eq!(colors[..3], [default, default, Some(seven)]);
        assert!(colors[3].is_some_and(|color| color != Color::DEFAULT));
        assert_eq!(colors[4..], [None, default]);
        tracker.close();
        tracker.wait().await;
        assert!(tracker.is_empty());
    });
}

/// An open tracker may get more tasks, so nobody's wait ends.
#[test]
fn a_wait_lasts_until_the_tracker_is_closed_and_empty() {
    run(2, async {
        let tracker = TaskTracker::new();
        let short = Duration::from_millis(2);
        assert!(timeout(short, tracker.wait()).await.is_err(), "open");
        let token = tracker.token();
        let second = token.clone();
        assert_eq!(token.task_tracker().len(), 2);
        tracker.close();
        drop(token);
        assert!(timeout(short, tracker.wait()).await.is_err(), "not empty");
        drop(second);
        tracker.wait().await;
        assert!(tracker.reopen() && !tracker.reopen());
        assert!(timeout(short, tracker.wait()).await.is_err(), "open again");
        let waits = tracker.clone();
        let waiting = colored::spawn_unique(async move { waits.wait().await });
        yield_now().await;
        tracker.close();
        waiting.await.unwrap();
    });
}

#[test]
fn a_token_asks_tasks_of_all_colors_to_end() {
    run(2, async {
        let (stop, tracker) = (CancellationToken::new(), TaskTracker::new());
        let rounds = Arc::new(AtomicUsize::new(0));
        for color in 0..20_u64 {
            let (stop, rounds) = (stop.child_token(), Arc::clone(&rounds));
            tracker.spawn_colored(color, async move {
                while stop.run_until_cancelled(sleep(Duration::from_millis(1))).await.is_some() {
                    rounds.fetch_add(1, SeqCst);
                }
            });
        }
        while rounds.load(SeqCst) < 40 {
            yield_now().await;
        }
        let guard = stop.clone().drop_guard();
        assert!(!stop.is_cancelled());
        drop(guard);
        tracker.close();
        tracker.wait().await;
    });
}
