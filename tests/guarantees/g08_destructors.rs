//! G8: a future is dropped once, under its own color, however it ends.

use colored::sync::oneshot;
use colored::{Color, ColorCell, hop, spawn_colored, spawn_unique, yield_now};
use colored_tests::drops::{Drops, keep};
use colored_tests::gate::Gate;
use colored_tests::{ON_PURPOSE, block, run, runtime, settle, shared, wait_until};
use std::future::pending;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const RED: u64 = 1;
const BLUE: u64 = 2;

/// Hops to blue, and waits there.
async fn hop_and_wait() {
    hop(Color::new(BLUE)).await;
    pending().await
}

/// Shows G8.
#[test]
fn completion_drops_the_future_under_its_color() {
    let drops = Drops::default();
    let (red, blue) = (drops.under(RED), drops.under(BLUE));
    run(2, async {
        let stays = spawn_colored(RED, keep(red, yield_now()));
        let moves = spawn_colored(RED, keep(blue, hop(Color::new(BLUE))));
        stays.await.unwrap();
        moves.await.unwrap();
    });
    drops.assert_exact(2);
}

/// Shows G8.
#[test]
fn abort_of_a_queued_task_drops_it_unpolled_under_its_color() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let gate = Gate::close(runtime.handle(), RED);
        let never = async { unreachable!("it was aborted before its first poll") };
        let task = runtime.handle().spawn_colored(RED, keep(drops.under(RED), never));
        task.abort();
        assert!(!task.is_finished(), "its color is busy, so its future is still there");
        assert_eq!(drops.count(), 0);
        gate.open();
        assert!(runtime.run(task).unwrap_err().is_cancelled());
        drops.assert_exact(1);
    });
}

/// Shows G8.
#[test]
fn abort_of_a_waiting_task_drops_it_under_its_color() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let moves = keep(drops.under(BLUE), hop_and_wait());
        let task = runtime.handle().spawn_colored(RED, moves);
        settle(&runtime, RED);
        settle(&runtime, BLUE);
        task.abort();
        assert!(runtime.run(task).unwrap_err().is_cancelled());
        drops.assert_exact(1);
    });
}

/// Shows G8.
#[test]
fn abort_of_a_running_task_drops_it_when_its_poll_ends() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let guard = drops.under(RED);
        let (begun, begins) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let task = runtime.handle().spawn_colored(RED, async move {
            let _guard = guard;
            begun.send(()).unwrap();
            ended.recv().unwrap();
            pending::<()>().await;
        });
        begins.recv().unwrap();
        task.abort();
        assert_eq!(drops.count(), 0, "a poll is not interrupted");
        end.send(()).unwrap();
        assert!(runtime.run(task).unwrap_err().is_cancelled());
        drops.assert_exact(1);
    });
}

/// Shows G8.
#[test]
fn a_task_may_abort_itself() {
    let drops = Drops::default();
    let guard = drops.under(RED);
    let result = run(2, async {
        let (tell, told) = oneshot::channel::<colored::AbortHandle>();
        let task = spawn_colored(RED, async move {
            let _guard = guard;
            told.await.unwrap().abort();
            pending::<()>().await;
        });
        tell.send(task.abort_handle()).unwrap();
        task.await
    });
    assert!(result.unwrap_err().is_cancelled());
    drops.assert_exact(1);
}

/// Shows G8.
#[test]
fn an_abort_that_comes_too_late_changes_nothing() {
    let result = run(2, async {
        let task = spawn_colored(RED, async { 5 });
        spawn_colored(RED, async {}).await.unwrap();
        task.abort();
        task.await
    });
    assert_eq!(result.unwrap(), 5);
}

/// Shows G8.
#[test]
fn a_panic_drops_the_future_under_its_color() {
    let drops = Drops::default();
    let (red, blue) = (drops.under(RED), drops.under(BLUE));
    run(2, async {
        let here = spawn_colored(RED, async move {
            let _guard = red;
            panic!("{ON_PURPOSE}");
        });
        let there = spawn_colored(RED, async move {
            let _guard = blue;
            hop(Color::new(BLUE)).await;
            panic!("{ON_PURPOSE}");
        });
        assert!(here.await.unwrap_err().is_panic());
        assert!(there.await.unwrap_err().is_panic());
    });
    drops.assert_exact(2);
}

/// One task in each state that shutdown can find it in.
/// Shows G8.
#[test]
fn shutdown_drops_the_future_under_its_color_in_every_state() {
    shared(|| {
        let (runtime, drops) = (runtime(3), Drops::default());
        let handle = runtime.handle();
        let waits = |guard| keep(guard, pending::<()>());
        let mut tasks = vec![
            handle.spawn_colored(RED, waits(drops.under(RED))),
            handle.spawn(waits(drops.under(Color::DEFAULT))),
        ];
        let own = drops.clone();
        tasks.push(handle.spawn_unique(async move {
            // No other task can name this color, so the shutdown has to find the lane by itself.
            let _guard = own.under(Color::current().unwrap());
            pending::<()>().await;
        }));
        tasks.push(handle.spawn_colored(RED, keep(drops.under(BLUE), hop_and_wait())));
        let sleeps = colored::time::sleep(Duration::from_secs(3600));
        tasks.push(handle.spawn_colored(BLUE, keep(drops.under(BLUE), sleeps)));
        for color in [RED, BLUE] {
            settle(&runtime, color);
        }
        wait_until(|| runtime.metrics().parked == 3);
        // A running task, and a task that is queued behind it.
        let (begun, begins) = mpsc::channel();
        let guard = drops.under(3);
        tasks.push(handle.spawn_colored(3, async move {
            let _guard = guard;
            begun.send(()).unwrap();
            block(Duration::from_millis(30));
            pending::<()>().await;
        }));
        begins.recv().unwrap();
        tasks.push(handle.spawn_colored(3, waits(drops.under(3))));
        let cell = handle.cell(3, ());
        let guard = drops.under(3);
        cell.post(move |()| drop(guard));
        let all = tasks.len() as u64 + 1;
        runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
        drops.assert_exact(all);
        assert!(tasks.iter().all(|task| task.is_finished()));
    });
}

/// Shows G8.
#[test]
fn a_task_spawned_after_shutdown_is_dropped_under_its_color() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let handle = runtime.handle().clone();
        let cell = handle.cell(BLUE, drops.under(BLUE));
        drop(runtime);
        let task = handle.spawn_colored(RED, keep(drops.under(RED), pending::<()>()));
        assert!(task.is_finished());
        let guard = drops.under(BLUE);
        cell.post(move |_| drop(guard));
        drop(cell);
        drops.assert_exact(3);
    });
}

/// Shows G8.
#[test]
fn an_unused_output_is_dropped_under_the_color() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let guard = drops.under(RED);
        // An output that is there already would be dropped with the handle, here.
        let gate = Gate::close(runtime.handle(), RED);
        drop(runtime.handle().spawn_colored(RED, async move { guard }));
        gate.open();
        settle(&runtime, RED);
        drops.assert_exact(1);
    });
}

/// Shows G8.
#[test]
fn a_cell_drops_its_value_under_its_color() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let handle = runtime.handle();
        // A foreign thread drops the cell, with the color idle, and busy.
        drop(handle.cell(RED, drops.under(RED)));
        drops.assert_exact(1);
        let gate = Gate::close(handle, RED);
        drop(handle.cell(RED, drops.under(RED)));
        assert_eq!(drops.count(), 1, "the color is busy");
        gate.open();
        settle(&runtime, RED);
        drops.assert_exact(2);
        // A task of another color, a task of its own color, and its own closure drop it.
        let (other, own, last) = (drops.under(RED), drops.under(RED), drops.under(RED));
        runtime.run(async {
            let cell = ColorCell::new(Color::new(RED), other);
            spawn_unique(async move { drop(cell) }).await.unwrap();
            let cell = ColorCell::new(Color::new(RED), own);
            spawn_colored(RED, async move { drop(cell) }).await.unwrap();
            let cell = ColorCell::new(Color::new(RED), last);
            let clone = cell.clone();
            cell.post(move |_| drop(clone));
        });
        settle(&runtime, RED);
        drops.assert_exact(5);
    });
}

/// Shows G8.
#[test]
fn drops_are_exact_over_a_hundred_thousand_tasks_of_every_end() {
    const TASKS: u64 = 100_000;
    shared(|| {
        let (runtime, drops) = (runtime(8), Drops::default());
        let ours = drops.clone();
        runtime.run(async move {
            let mut aborted = Vec::new();
            for number in 0..TASKS {
                let color = number % 61;
                let guard = ours.under(color);
                let task = spawn_colored(color, async move {
                    let _guard = guard;
                    match number % 10 {
                        0 => panic!("{ON_PURPOSE}"),
                        1..=3 => pending().await,
                        4..=6 => yield_now().await,
                        _ => {}
                    }
                });
                if number % 10 == 3 || number % 10 == 6 {
                    aborted.push(task);
                }
                if number % 1_000 == 0 {
                    yield_now().await;
                }
            }
            for task in &aborted {
                task.abort();
            }
            for task in aborted {
                let result = task.await;
                assert!(result.is_ok() || result.unwrap_err().is_cancelled());
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
        drops.assert_exact(TASKS);
    });
}

/// Destructors may use the runtime: they run where a poll would.
/// Shows G8.
#[test]
fn a_destructor_may_spawn_wake_and_abort() {
    struct Busy(Option<oneshot::Sender<()>>, colored::AbortHandle, Drops);
    impl Drop for Busy {
        fn drop(&mut self) {
            self.0.take().unwrap().send(()).unwrap();
            self.1.abort();
            let guard = self.2.under(RED);
            drop(colored::spawn_here(async move { drop(guard) }));
        }
    }
    shared(|| {
        for end_by_shutdown in [false, true] {
            let (runtime, drops) = (runtime(2), Drops::default());
            let (wake, woken) = oneshot::channel();
            let other = runtime.handle().spawn_colored(RED, pending::<()>());
            let busy = Busy(Some(wake), other.abort_handle(), drops.clone());
            let task = runtime.handle().spawn_colored(RED, async move {
                let _busy = busy;
                pending::<()>().await;
            });
            settle(&runtime, RED);
            if end_by_shutdown {
                drop(runtime);
            } else {
                task.abort();
                runtime.run(async { woken.await.unwrap() });
                assert!(runtime.run(other).unwrap_err().is_cancelled());
                settle(&runtime, RED);
            }
            drops.assert_exact(1);
        }
    });
}

/// The last reference may be dropped anywhere; the future was dropped before, under its color.
/// Shows G8.
#[test]
fn a_waker_that_outlives_everything_drops_no_future() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let (give, given) = mpsc::channel();
        let guard = drops.under(RED);
        let task = runtime.handle().spawn_colored(RED, async move {
            let _guard = guard;
            std::future::poll_fn(|cx| {
                give.send(cx.waker().clone()).unwrap();
                std::task::Poll::<()>::Pending
            })
            .await;
        });
        let waker = given.recv().unwrap();
        drop(task);
        drop(runtime);
        drops.assert_exact(1);
        thread::spawn(move || {
            waker.wake_by_ref();
            drop(waker);
        })
        .join()
        .unwrap();
        drops.assert_exact(1);
    });
}
