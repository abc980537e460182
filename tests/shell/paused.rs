//! Runtimes whose clock is paused.

mod advance;
mod held;

use colored::time::{
    Duration, Instant, MissedTickBehavior, interval, interval_at, pause, resume, sleep,
    sleep_until, timeout, timeout_at,
};
use colored::{Color, Runtime};
use colored_tests::polls::waits;
use colored_tests::{join_all, panic_of, runtime, shared, wait_until, watched};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

const HOUR: Duration = Duration::from_secs(3600);

fn paused(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).start_paused(true).build().expect("the runtime starts")
}

/// Runs a main future on a paused runtime.
#[track_caller]
fn run<F>(workers: usize, main: F) -> F::Output
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    watched(|| paused(workers).run(main))
}

/// Tasks under many colors, on several workers, sleep for hours. Each wakes up at its time to the nanosecond, and the
/// times are seen in order: time does not move before a task that was woken has run.
#[test]
fn sleeps_of_hours_end_at_once_and_in_the_order_of_their_deadlines() {
    for workers in [1, 2, 4, 9] {
        let order = run(workers, async {
            let (start, order) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
            join_all((0..100_u32).map(|task| {
                let order = Arc::clone(&order);
                colored::spawn_unique(async move {
                    for round in 1..=3 {
                        let hours = (task * 37 % 100 + 1) * round;
                        sleep_until(start + HOUR * hours).await;
                        assert_eq!(start.elapsed(), HOUR * hours);
                        order.lock().unwrap().push(hours);
                    }
                })
            }))
            .await;
            assert_eq!(start.elapsed(), HOUR * 300);
            order.lock().unwrap().clone()
        });
        assert_eq!(order.len(), 300);
        assert!(order.is_sorted(), "with {workers} workers: {order:?}");
    }
}

#[test]
fn intervals_tick_on_their_grid() {
    run(2, async {
        let start = Instant::now();
        let mut ticks = interval(HOUR);
        for tick in 0..50 {
            assert_eq!(ticks.tick().await, start + HOUR * tick);
            assert_eq!(start.elapsed(), HOUR * tick);
        }
        let mut late = interval_at(start + HOUR * 60, HOUR);
        late.set_missed_tick_behavior(MissedTickBehavior::Skip);
        late.tick().await;
        sleep(HOUR * 5 / 2).await;
        assert_eq!(late.tick().await, start + HOUR * 61);
        assert_eq!(late.tick().await, start + HOUR * 63);
    });
}

#[test]
fn a_timeout_lets_work_be_done_first() {
    run(2, async {
        let start = Instant::now();
        // It runs as often as it likes: time stands still meanwhile.
        let work = colored::spawn_unique(async {
            for _ in 0..1000 {
                colored::yield_now().await;
            }
            7
        });
        assert_eq!(timeout(Duration::from_millis(1), work).await.unwrap().unwrap(), 7);
        assert_eq!(start.elapsed(), Duration::ZERO);
        timeout(HOUR, sleep(HOUR * 2)).await.unwrap_err();
        assert_eq!(start.elapsed(), HOUR);
        timeout_at(start + HOUR * 2, sleep(HOUR * 2)).await.unwrap_err();
        timeout_at(std::time::Instant::from(start + HOUR * 3), sleep(HOUR)).await.unwrap();
        assert_eq!(start.elapsed(), HOUR * 3);
    });
}

/// The timer of a time-out that is over leaves nothing behind.
#[test]
fn a_timer_that_was_dropped_does_not_move_time() {
    run(2, async {
        let start = Instant::now();
        timeout(HOUR, colored::yield_now()).await.unwrap();
        let mut left = pin!(sleep(HOUR));
        assert!(waits(left.as_mut()).await);
        left.set(sleep(Duration::ZERO));
        // Nothing but a thread that the runtime does not know goes on.
        let (send, receive) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            send.send(()).unwrap();
        });
        receive.await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    });
}

#[test]
fn the_main_future_may_run_on_the_calling_thread() {
    watched(|| {
        let runtime = paused(2);
        let steps = Arc::new(Mutex::new(Vec::new()));
        runtime.block_on(async {
            let start = Instant::now();
            let seen = Arc::clone(&steps);
            let other = colored::spawn_unique(async move {
                for step in 0..20 {
                    sleep(Duration::from_millis(1500)).await;
                    seen.lock().unwrap().push((start.elapsed().as_millis(), "other", step));
                }
            });
            for step in 0..30 {
                sleep(Duration::from_secs(1)).await;
                steps.lock().unwrap().push((start.elapsed().as_millis(), "main", step));
            }
            other.await.unwrap();
        });
        let steps = steps.lock().unwrap();
        let times: Vec<_> = steps.iter().map(|step| step.0).collect();
        let mut expected: Vec<u128> = (1..=30).map(|step| step * 1000).collect();
        expected.extend((1..=20).map(|step| step * 1500));
        expected.sort_unstable();
        assert_eq!(times, expected);
    });
}

/// A runtime that runs begins its pause in the middle, on any number of workers, of which others sleep in any way.
#[test]
fn a_running_runtime_can_be_paused_and_resumed() {
    for workers in [1, 3, 10] {
        shared(|| {
            runtime(workers).run(async {
                let real = std::time::Instant::now();
                let sleeper = colored::spawn_unique(sleep(HOUR));
                sleep(Duration::from_millis(1)).await;
                pause();
                let start = Instant::now();
                assert!(start.into_std() >= real);
                sleeper.await.unwrap();
                assert!(start.elapsed() < HOUR && start.elapsed() > HOUR / 2);
                sleep(HOUR).await;
                sleep(Duration::from_millis(3)).await;
                resume();
                let resumed = Instant::now();
                assert!(resumed - start > HOUR, "it goes on from where it stood");
                let real = std::time::Instant::now();
                sleep(Duration::from_millis(20)).await;
                assert!(real.elapsed() >= Duration::from_millis(20));
                assert!(resumed.elapsed() >= Duration::from_millis(20));
                pause();
                let again = Instant::now();
                sleep(HOUR).await;
                assert_eq!(again.elapsed(), HOUR);
            });
        });
    }
}

#[test]
fn each_runtime_has_a_clock_of_its_own() {
    watched(|| {
        let (stands, moves) = (paused(2), runtime(2));
        let other = moves.handle().clone();
        stands.run(async move {
            let start = Instant::now();
            sleep(HOUR).await;
            // A task of the other runtime, by its clock, while a timer here keeps this runtime from nothing.
            let task = other.spawn_unique(async {
                let start = Instant::now();
                sleep(Duration::from_millis(5)).await;
                start.elapsed()
            });
            let waited = task.await.unwrap();
            assert!(waited >= Duration::from_millis(5) && waited < HOUR);
            assert_eq!(start.elapsed(), HOUR);
        });
    });
}

/// When the main future is done, time stands, whatever other tasks sleep for.
#[test]
fn time_does_not_run_away_without_a_main_future() {
    watched(|| {
        let runtime = paused(2);
        let ticks = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ticks);
        drop(runtime.spawn(async move {
            let mut every_hour = interval(HOUR);
            loop {
                every_hour.tick().await;
                count.fetch_add(1, SeqCst);
            }
        }));
        wait_until(|| ticks.load(SeqCst) == 1);
        let start = runtime.run(async { Instant::now() });
        for round in 1..=3 {
            runtime.run(async { sleep(HOUR * 10).await });
            std::thread::sleep(Duration::from_millis(15));
            assert_eq!(runtime.block_on(async { start.elapsed() }), HOUR * 10 * round);
            let seen = ticks.load(SeqCst);
            assert!(seen.abs_diff(10 * round as usize + 1) <= 1, "{seen} in round {round}");
        }
    });
}

#[test]
fn a_thousand_sleepers_of_one_moment_wake_up_at_that_moment() {
    run(4, async {
        let start = Instant::now();
        let tasks: Vec<_> = (0..1000_u64)
            .map(|task| {
                colored::spawn_colored(Color::new(task % 50), async move {
                    sleep(HOUR).await;
                    start.elapsed()
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), HOUR);
        }
    });
}

#[test]
fn pausing_twice_and_resuming_a_clock_that_moves_are_refused() {
    watched(|| {
        let text = paused(1).run(async { panic_of(pause) });
        assert!(
            text.contains("`time::pause` while the clock of this runtime is paused already"),
            "{text}"
        );
        let text = runtime(1).run(async { panic_of(resume) });
        assert!(text.contains("call `time::pause` first"), "{text}");
        let text = panic_of(pause);
        assert!(text.contains("in no `colored` runtime"), "{text}");
    });
}

#[colored::test(paused, workers = 2)]
async fn the_attribute_pauses_the_clock() {
    let start = Instant::now();
    sleep(HOUR).await;
    assert_eq!(start.elapsed(), HOUR);
}

#[colored::test(paused, local)]
async fn the_attribute_pauses_the_clock_of_a_local_test() {
    let start = Instant::now();
    sleep(HOUR).await;
    assert_eq!(start.elapsed(), HOUR);
}
