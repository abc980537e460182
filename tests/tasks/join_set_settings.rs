//! Sets with a limit, a deadline or a token, and sets as streams.

use colored::task::{CancellationToken, JoinSet};
use colored::time::{Duration, Instant, sleep};
use colored::{Runtime, yield_now};
use colored_tests::{panic_of, run, watched};
use futures_core::Stream;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

const SECOND: Duration = Duration::from_secs(1);

#[track_caller]
fn run_paused<F>(workers: usize, main: F) -> F::Output
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    watched(|| Runtime::builder().workers(workers).start_paused(true).build().unwrap().run(main))
}

#[test]
fn at_most_so_many_run_at_a_time() {
    for workers in [1, 3] {
        run(workers, async move {
            let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let mut set = JoinSet::new().limit(3);
            for color in 0..60_u64 {
                let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                set.spawn_colored(color % 20, async move {
                    most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                    // The first three meet, however late a worker is.
                    while most.load(SeqCst) < 3 {
                        yield_now().await;
                    }
                    for _ in 0..5 {
                        yield_now().await;
                    }
                    running.fetch_sub(1, SeqCst);
                });
            }
            assert_eq!(set.len(), 60, "all are in the set at once");
            assert_eq!(set.join_all().await.len(), 60);
            assert_eq!(most.load(SeqCst), 3);
        });
    }
}

/// Tasks that wait for room are aborted as others are, and give up their places.
#[test]
fn an_abort_of_a_running_or_a_waiting_task_makes_room() {
    run(2, async {
        let mut set = JoinSet::new().limit(1);
        let runs = set.spawn_unique(pending());
        let waits = set.spawn_unique(pending());
        set.spawn_unique(async { 7 });
        // Either may be the one that runs, and the third task comes after it.
        waits.abort();
        runs.abort();
        let mut done = Vec::new();
        while let Some(output) = set.join_next().await {
            done.extend(output.ok());
        }
        assert_eq!(done, [7]);
    });
}

#[test]
fn blocking_calls_do_not_wait_for_room() {
    run(2, async {
        let mut set = JoinSet::new().limit(1);
        set.spawn_unique(pending());
        for _ in 0..3 {
            set.spawn_blocking(|| thread::sleep(Duration::from_millis(1)));
        }
        for _ in 0..3 {
            set.join_next().await.unwrap().unwrap();
        }
        assert_eq!(set.len(), 1);
    });
}

#[test]
fn a_limit_of_nothing_is_refused() {
    watched(|| {
        let text = panic_of(|| JoinSet::<()>::new().limit(0));
        assert!(text.starts_with("limit(0): allowed are 1 to "), "{text}");
    });
}

#[test]
fn a_deadline_aborts_what_is_left_and_what_comes_later() {
    for workers in [1, 2] {
        run_paused(workers, async {
            let start = Instant::now();
            let mut set = JoinSet::new().deadline(start + SECOND * 10);
            for seconds in [1, 9, 10_000, 11] {
                set.spawn_unique(async move {
                    sleep(SECOND * seconds).await;
                    seconds
                });
            }
            assert_eq!(set.join_next().await.unwrap().unwrap(), 1);
            assert_eq!(set.join_next().await.unwrap().unwrap(), 9);
            for _ in 0..2 {
                assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
            }
            assert!(set.join_next().await.is_none());
            assert_eq!(start.elapsed(), SECOND * 10);
            set.spawn_unique(pending());
            assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
        });
    }
}

/// The outputs that were there are not lost, and the deadline passes while the owner is busy.
#[test]
fn a_deadline_leaves_outputs_alone() {
    run_paused(2, async {
        let mut set = JoinSet::new().deadline(Instant::now() + SECOND);
        set.spawn_unique(async { 7 });
        set.spawn_unique(pending());
        sleep(SECOND * 5).await;
        assert_eq!(set.join_next().await.unwrap().unwrap(), 7);
        assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    });
}

#[test]
fn a_token_aborts_what_is_left_and_what_comes_later() {
    run(2, async {
        let parent = CancellationToken::new();
        let mut set = JoinSet::new().cancel_on(&parent.child_token());
        for _ in 0..100 {
            set.spawn_unique(pending::<()>());
        }
        let other = parent.clone();
        let cancels = colored::spawn_unique(async move {
            yield_now().await;
            drop(other.drop_guard());
        });
        for _ in 0..100 {
            assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
        }
        cancels.await.unwrap();
        set.spawn_unique(pending());
        assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
        assert!(set.is_empty() && parent.is_cancelled());
    });
}

#[test]
fn a_set_is_a_stream_of_its_outputs() {
    run(2, async {
        let mut set = JoinSet::new();
        for number in 0..10_u32 {
            set.spawn_unique(async move { number });
        }
        assert_eq!(set.size_hint(), (10, None));
        let mut sum = 0;
        while let Some(output) = poll_fn(|cx| Pin::new(&mut set).poll_next(cx)).await {
            sum += output.unwrap();
        }
        assert_eq!(sum, 45);
    });
}
