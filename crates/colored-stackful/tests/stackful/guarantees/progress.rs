//! G6, G7: no lane waits while a worker is free, and none waits for long.

use super::RED;
use crate::support::{Held, KINDS, Kind, Trace, run, spawn_as, until, wait_until};
use colored::sync::{Semaphore, oneshot};
use colored::time::{Duration, sleep};
use colored::{Color, spawn_colored};
use colored_stackful as stackful;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A task that has not begun is at home nowhere, and any worker takes it.
/// Shows G6.
#[test]
fn tasks_that_a_stuck_worker_has_spawned_begin_on_the_others() {
    const TASKS: usize = 100;
    for kind in KINDS {
        run(2, async move {
            let done = Arc::new(AtomicUsize::new(0));
            let stuck = spawn_as!(kind, Color::unique(), {
                for index in 0..TASKS {
                    let done = Arc::clone(&done);
                    // One of each kind under each color.
                    let color = Color::new(10 + index as u64 / 2);
                    drop(Kind::of(index).spawn_steps(color, 2, move |_| {
                        done.fetch_add(1, Ordering::Relaxed);
                    }));
                }
                // The worker is stuck here until the other one has run them all.
                wait_until(|| done.load(Ordering::Relaxed) == 2 * TASKS);
            });
            stuck.await.unwrap();
        });
    }
}

/// Shows G2, G6.
#[test]
fn futures_before_a_stack_of_a_stuck_worker_run_on_the_others() {
    let trace = Trace::new();
    let ours = trace.clone();
    run(2, async move {
        let note = |text: &'static str| {
            let trace = ours.clone();
            move || trace.push(text)
        };
        let ((begins, begun), (wake, woken)) = (oneshot::channel(), oneshot::channel());
        let [before, stack, behind] = ["before", "stack", "behind"].map(note);
        // It begins on worker 0.
        let held = Held::take(1).await;
        let stays = stackful::spawn(RED, move || {
            begins.send(()).unwrap();
            stackful::wait(woken).unwrap();
            stack();
        });
        begun.await.unwrap();
        // Behind its first turn.
        spawn_colored(RED, async {}).await.unwrap();
        held.release().await;

        let held = Held::take(0).await;
        let first = spawn_colored(RED, async move { before() });
        wake.send(()).unwrap();
        let last = spawn_colored(RED, async move { behind() });
        until(|| first.is_finished()).await;
        assert_eq!(ours.len(), 1, "the stack waits for its worker, and the last one for the stack");
        held.release().await;
        for task in [first, stays, last] {
            task.await.unwrap();
        }
    });
    assert_eq!(trace.take(), ["before", "stack", "behind"]);
}

/// Shows G7.
#[test]
fn endless_yields_and_endless_ready_waits_starve_nothing() {
    run(1, async {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for kind in KINDS {
            let (ours, semaphore) = (Arc::clone(&stop), Arc::new(Semaphore::new(1)));
            tasks.push(spawn_as!(kind, RED, {
                while !ours.load(Ordering::Relaxed) {
                    // It is always free, so only the budget ends the poll.
                    drop(wait!(semaphore.acquire()).unwrap());
                }
            }));
            let ours = Arc::clone(&stop);
            tasks.push(spawn_as!(kind, RED, {
                while !ours.load(Ordering::Relaxed) {
                    wait!(colored::yield_now());
                }
            }));
            let ours = Arc::clone(&stop);
            tasks.push(spawn_as!(kind, Color::unique(), {
                for color in (10..12).cycle() {
                    if ours.load(Ordering::Relaxed) {
                        return;
                    }
                    wait!(colored::hop(color));
                }
            }));
        }
        for kind in KINDS {
            kind.spawn_steps(Color::new(RED), 20, |_| ()).await.unwrap();
            kind.spawn_steps(Color::unique(), 20, |_| ()).await.unwrap();
        }
        sleep(Duration::from_millis(3)).await;
        stop.store(true, Ordering::Relaxed);
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Shows G7.
#[test]
fn work_waits_for_one_turn_of_each_task_before_it() {
    const ENDLESS: usize = 6;
    run(1, async {
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let endless: Vec<_> = (0..ENDLESS)
            .map(|index| {
                let (stop, turns) = (Arc::clone(&stop), Arc::clone(&turns));
                spawn_as!(Kind::of(index), RED, {
                    while !stop.load(Ordering::Relaxed) {
                        turns.fetch_add(1, Ordering::Relaxed);
                        wait!(colored::yield_now());
                    }
                })
            })
            .collect();
        for index in 0..100 {
            // The only worker is here, so there is no turn between this line and the spawn.
            let before = turns.load(Ordering::Relaxed);
            let turns = Arc::clone(&turns);
            let late = spawn_as!(Kind::of(index), RED, { turns.load(Ordering::Relaxed) - before });
            let waited = late.await.unwrap();
            assert!(waited <= ENDLESS, "{waited} turns came first");
        }
        stop.store(true, Ordering::Relaxed);
        for task in endless {
            task.await.unwrap();
        }
    });
}
