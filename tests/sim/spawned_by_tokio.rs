//! Tasks of tokio in a simulation.

use super::found;
use colored::sim::{self, Builder};
use colored::task::yield_now;
use colored::time::{Duration, Instant, sleep};
use colored::{Color, ColorCell, spawn_colored};
use colored_tests::drops::keep;
use std::future::pending;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

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
}

/// The failure of a run in which tokio has this task, whose handle is dropped.
#[track_caller]
fn failure_of<F>(task: impl Fn() -> F + Sync) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let report = Builder::new().tokio().seeds(0..10).run(|| {
        let task = task();
        async {
            drop(tokio::spawn(task));
            sleep(SECOND).await;
        }
    });
    found(&report).message().to_owned()
}

#[test]
fn a_panic_that_nobody_hears_of_fails_the_run() {
    let message = failure_of(|| async { sim::always!(Color::current().is_some(), "a color") });
    assert!(message.starts_with("not always: a color"), "{message}");
    assert!(message.contains("spawned_by_tokio.rs"), "{message}");
}

#[test]
fn what_waits_for_real_time_panics() {
    let message = failure_of(|| async { tokio::time::sleep(SECOND).await });
    assert!(message.contains("timers are disabled"), "{message}");
}

#[test]
fn a_blocking_call_of_tokio_panics() {
    let message = failure_of(|| async { tokio::task::spawn_blocking(|| ()).await.unwrap() });
    assert!(message.contains("use `colored::spawn_blocking`"), "{message}");
}

/// A task that yields until a color has had its turn.
#[colored::test(sim, tokio, seeds = 50)]
async fn a_turn_ends_although_a_task_goes_on() {
    let is_done = Arc::new(AtomicBool::new(false));
    let done = is_done.clone();
    let waits = tokio::spawn(async move {
        while !done.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
    });
    yield_now().await;
    spawn_colored(2, async move { is_done.store(true, Ordering::Relaxed) }).await.unwrap();
    waits.await.unwrap();
}

#[test]
fn what_nobody_waits_for_ends_with_the_run() {
    let held = Arc::new(());
    let report = Builder::new().tokio().seeds(0..10).run(|| {
        let held = held.clone();
        async {
            drop(tokio::spawn(keep(held, pending::<()>())));
        }
    });
    report.assert_passed();
    assert_eq!(Arc::strong_count(&held), 1);
}

/// Whose task was dropped, and whether the thread was in a tokio runtime then.
static DROPPED: Mutex<Vec<(&str, bool)>> = Mutex::new(Vec::new());

struct NotesDrop(&'static str);

impl Drop for NotesDrop {
    fn drop(&mut self) {
        let is_inside = tokio::runtime::Handle::try_current().is_ok();
        DROPPED.lock().unwrap().push((self.0, is_inside));
    }
}

#[test]
fn a_crash_drops_the_tasks_of_both_inside_of_the_runtimes() {
    let serve = || async {
        let theirs = tokio::spawn(keep(NotesDrop("theirs"), pending::<()>()));
        spawn_colored(1, keep(NotesDrop("ours"), pending::<()>())).await.unwrap();
        theirs.await.unwrap()
    };
    let report = Builder::new().tokio().seeds(0..10).host("a", serve).run(|| async {
        DROPPED.lock().unwrap().clear();
        sleep(SECOND).await;
        sim::host("a").crash().await;
        assert_eq!(*DROPPED.lock().unwrap(), [("ours", true), ("theirs", true)]);
    });
    report.assert_passed();
}

#[test]
fn classes_are_refused() {
    let tokio = || Builder::new().tokio();
    let refused = [
        catch_unwind(|| drop(tokio().until_plateau(3).run(|| async {}))),
        catch_unwind(|| drop(tokio().exhaust(3, || async {}))),
    ];
    for refused in refused {
        let text = *refused.unwrap_err().downcast::<String>().unwrap();
        assert!(text.contains("do not tell tasks of tokio apart"), "{text}");
    }
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
    let failure = found(&report);
    assert!(failure.to_string().contains("tasks of tokio"), "{failure}");
}

#[test]
fn without_the_option_there_is_no_runtime_of_tokio() {
    let report = Builder::new().seeds(0..1).run(|| async { drop(tokio::spawn(async {})) });
    let failure = report.failure().expect("tokio panics");
    assert!(failure.message().contains("there is no reactor running"), "{failure}");
}
