//! G11: a color is held for one poll, not from spawn to end.

use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell, spawn_colored, spawn_here, spawn_unique, yield_now};
use colored_tests::gate::Gate;
use colored_tests::{Trace, run, runtime, shared, wait_until};

const RED: u64 = 1;

/// Shows G11.
#[test]
fn two_tasks_of_one_color_interleave_at_their_awaits() {
    shared(|| {
        let (runtime, trace) = (runtime(4), Trace::new());
        let gate = Gate::close(runtime.handle(), RED);
        for name in ['a', 'b'] {
            let trace = trace.clone();
            drop(runtime.handle().spawn_colored(RED, async move {
                for step in 0..100 {
                    trace.push((step, name));
                    yield_now().await;
                }
            }));
        }
        gate.open();
        wait_until(|| trace.len() == 200);
        let turns: Vec<_> = (0..100).flat_map(|step| [(step, 'a'), (step, 'b')]).collect();
        assert_eq!(trace.take(), turns);
    });
}

/// Both branches have hopped in one poll. The task has one color at a time, and each branch goes on under its own.
/// Shows G11.
#[test]
fn two_hops_of_one_poll_are_made_one_after_the_other() {
    run(2, async {
        let goes = async |color: u64| {
            colored::hop(color).await;
            Color::current()
        };
        let branches = spawn_unique(async move { colored::join!(goes(RED), goes(2)) });
        assert_eq!(branches.await.unwrap(), (Some(Color::new(RED)), Some(Color::new(2))));
    });
}

/// Ends only if the color is free while the first task awaits the second.
/// Shows G11.
#[test]
fn a_task_may_await_another_of_its_own_color() {
    run(2, async {
        let (send, receive) = oneshot::channel();
        let first = spawn_colored(RED, async {
            let inner = spawn_here(async { 1 }).await.unwrap();
            inner + receive.await.unwrap()
        });
        let second = spawn_colored(RED, async { send.send(2).unwrap() });
        second.await.unwrap();
        assert_eq!(first.await.unwrap(), 3);
    });
}

/// orleans#8984, kameo: a call to the caller's own color does not wait for the caller.
/// Shows G11.
#[test]
fn a_call_from_its_own_color_runs_at_once() {
    run(2, async {
        let cell = ColorCell::new(Color::new(RED), 1);
        let caller = spawn_colored(RED, async move {
            let mut call = Box::pin(cell.call(|value| *value + 1));
            let first = std::future::poll_fn(|cx| std::task::Poll::Ready(call.as_mut().poll(cx)));
            first.await
        });
        assert_eq!(caller.await.unwrap(), std::task::Poll::Ready(2));
    });
}

/// Shows G11.
#[test]
fn a_color_is_free_while_its_task_sleeps() {
    run(2, async {
        let sleeper = spawn_colored(RED, sleep(Duration::from_secs(3600)));
        for _ in 0..100 {
            spawn_colored(RED, async {}).await.unwrap();
        }
        assert!(!sleeper.is_finished());
        sleeper.abort();
        assert!(sleeper.await.unwrap_err().is_cancelled());
    });
}

/// A value that a task read before an await may have changed after it: colors do not guarantee it.
/// Shows G11.
#[test]
fn state_may_change_across_an_await() {
    run(2, async {
        let cell = ColorCell::new(Color::new(RED), 0);
        let ours = cell.clone();
        let (go, gone) = oneshot::channel();
        let reader = spawn_colored(RED, async move {
            let before = ours.with(|value| *value);
            gone.await.unwrap();
            (before, ours.with(|value| *value))
        });
        spawn_colored(RED, async move { cell.with(|value| *value = 5) }).await.unwrap();
        spawn_unique(async { go.send(()).unwrap() }).await.unwrap();
        assert_eq!(reader.await.unwrap(), (0, 5));
    });
}
