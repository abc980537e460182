//! `exclusive`: a color that is held across awaits.

use colored::time::{Duration, sleep, timeout};
use colored::{
    Color, ColorCell, exclusive, spawn_colored, spawn_here, spawn_local, spawn_unique, yield_now,
};
use colored_tests::drops::{Drops, keep};
use colored_tests::gate::Gate;
use colored_tests::polls::both;
use colored_tests::witness::Witness;
use colored_tests::{Dice, ON_PURPOSE, Trace, run, runtime, shared, wait_until};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

const RED: u64 = 1;
const BLUE: u64 = 2;

/// Shows G11.
#[test]
fn no_other_task_of_the_color_runs_between_ten_thousand_awaits() {
    shared(|| {
        let (runtime, trace) = (runtime(4), Trace::new());
        let gate = Gate::close(runtime.handle(), RED);
        let ours = trace.clone();
        drop(runtime.handle().spawn_colored(
            RED,
            exclusive(async move {
                for step in 0..10_000 {
                    ours.push(step);
                    match step % 4 {
                        0 => spawn_unique(async {}).await.unwrap(),
                        1 => sleep(Duration::ZERO).await,
                        _ => yield_now().await,
                    }
                }
            }),
        ));
        for other in 0..100 {
            let trace = trace.clone();
            drop(runtime.handle().spawn_colored(RED, async move { trace.push(10_000 + other) }));
        }
        gate.open();
        wait_until(|| trace.len() == 10_100);
        assert_eq!(trace.take(), (0..10_100).collect::<Vec<_>>());
    });
}

/// Work that is scheduled during the section, by others and by itself, runs after the section in its order.
/// Shows G11.
#[test]
fn the_color_goes_on_in_order() {
    run(2, async {
        let trace = Trace::new();
        let cell = ColorCell::new(Color::new(RED), trace.clone());
        let ours = trace.clone();
        spawn_colored(RED, async move {
            exclusive(async {
                for name in ["task", "another"] {
                    let trace = ours.clone();
                    drop(spawn_here(async move { trace.push(name) }));
                    yield_now().await;
                }
                let poster = cell.clone();
                spawn_unique(async move { poster.post(|trace| trace.push("post")) }).await.unwrap();
                ours.push("section");
            })
            .await;
            ours.push("after the section, in the same poll");
            cell.call(|trace| trace.push("call on the own color")).await;
        })
        .await
        .unwrap();
        wait_until(|| trace.len() == 6);
        assert_eq!(
            trace.take(),
            [
                "section",
                "after the section, in the same poll",
                "task",
                "another",
                "post",
                "call on the own color",
            ]
        );
    });
}

/// Ends only if a worker runs other colors while a section yields, and while a section waits.
/// Shows G11.
#[test]
fn other_colors_run_meanwhile() {
    run(1, async {
        let seen = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&seen);
        let yielding = spawn_colored(
            RED,
            exclusive(async move {
                while !flag.load(Ordering::Relaxed) {
                    yield_now().await;
                }
            }),
        );
        let waiting = spawn_colored(BLUE, exclusive(pending::<()>()));
        spawn_unique(sleep(Duration::from_millis(1))).await.unwrap();
        seen.store(true, Ordering::Relaxed);
        yielding.await.unwrap();
        assert!(!waiting.is_finished());
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
    });
}

/// Shows G11.
#[test]
fn every_end_gives_the_color_back() {
    run(2, async {
        let drops = Drops::default();
        let section = |token| exclusive(keep(token, pending::<()>()));
        let aborted = spawn_colored(RED, section(drops.under(RED)));
        let behind = spawn_colored(RED, async {});
        sleep(Duration::from_millis(2)).await;
        assert!(!behind.is_finished());
        aborted.abort();
        behind.await.unwrap();
        assert!(aborted.await.unwrap_err().is_cancelled());

        let token = drops.under(RED);
        let panicking = spawn_colored(
            RED,
            exclusive(async move {
                yield_now().await;
                let _token = token;
                panic!("{ON_PURPOSE}")
            }),
        );
        spawn_colored(RED, async {}).await.unwrap();
        let error: colored::task::JoinError = panicking.await.map(|(): ()| ()).unwrap_err();
        assert!(error.is_panic());

        let token = drops.under(RED);
        let dropped = spawn_colored(RED, async move {
            timeout(Duration::from_millis(1), section(token)).await.unwrap_err();
            pending::<()>().await;
        });
        spawn_colored(RED, async {}).await.unwrap();
        assert!(!dropped.is_finished());

        let done = spawn_colored(RED, async {
            exclusive(yield_now()).await;
            pending::<()>().await;
        });
        spawn_colored(RED, async {}).await.unwrap();
        assert!(!done.is_finished());
        drops.assert_exact(3);
    });
}

/// A shutdown finds tasks that keep their lane, and what waits behind them.
/// Shows G11.
#[test]
fn shutdown_releases_sections_and_the_work_behind_them() {
    shared(|| {
        let drops = Drops::default();
        let runtime = runtime(3);
        for color in 0..50 {
            let began = Arc::new(AtomicU64::new(0));
            let (ours, token) = (Arc::clone(&began), drops.under(color));
            drop(runtime.handle().spawn_colored(
                color,
                exclusive(async move {
                    ours.fetch_add(1, Ordering::Relaxed);
                    pending::<()>().await;
                    drop(token);
                }),
            ));
            wait_until(|| began.load(Ordering::Relaxed) == 1);
            for _ in 0..3 {
                let token = drops.under(color);
                drop(runtime.handle().spawn_colored(color, async move { drop(token) }));
            }
        }
        for _ in 0..50 {
            drop(runtime.handle().spawn_unique(async {
                let here = Color::current().unwrap();
                drop(spawn_here(pending::<()>()));
                assert_ne!(here, Color::DEFAULT);
                exclusive(pending::<()>()).await;
            }));
        }
        drop(runtime);
        drops.assert_exact(200);
    });
}

/// Sections in two branches of one task: the color is held until the last one ends.
/// Shows G11.
#[test]
fn sections_nest_and_stand_side_by_side() {
    run(2, async {
        let trace = Trace::new();
        let ours = trace.clone();
        let task = spawn_colored(RED, async move {
            exclusive(async {
                exclusive(yield_now()).await;
                let behind = ours.clone();
                drop(spawn_here(async move { behind.push("behind") }));
                sleep(Duration::from_millis(1)).await;
                ours.push("nested");
            })
            .await;
            let long = exclusive(async {
                let behind = ours.clone();
                drop(spawn_here(async move { behind.push("behind") }));
                // A sleep alone may be over before the other section has had its second poll.
                while ours.len() < 3 {
                    sleep(Duration::from_millis(2)).await;
                }
                ours.push("long");
            });
            let short = exclusive(async {
                yield_now().await;
                ours.push("short");
            });
            both(long, short).await;
        });
        task.await.unwrap();
        wait_until(|| trace.len() == 5);
        assert_eq!(trace.take(), ["nested", "behind", "short", "long", "behind"]);
    });
}

/// On the thread of a guest and of a worker: the lane goes back to where its task is pinned.
/// Shows G11.
#[test]
fn pinned_tasks_have_sections_too() {
    shared(|| {
        let runtime = runtime(2);
        let handle = runtime.handle().clone();
        let trace = Trace::new();
        let main = runtime.block_on(async {
            let here = thread::current().id();
            exclusive(async {
                let behind = trace.clone();
                drop(handle.spawn(async move { behind.push("behind") }));
                for _ in 0..20 {
                    spawn_unique(async {}).await.unwrap();
                    assert_eq!(thread::current().id(), here);
                }
                trace.push("section");
            })
            .await;
            thread::current().id()
        });
        assert_eq!(main, thread::current().id());
        wait_until(|| trace.len() == 2);
        assert_eq!(trace.take(), ["section", "behind"]);

        runtime.run(async {
            spawn_local(async {
                let (here, not_send) = (thread::current().id(), std::rc::Rc::new(5));
                exclusive(async {
                    for _ in 0..20 {
                        spawn_unique(sleep(Duration::ZERO)).await.unwrap();
                        assert_eq!(thread::current().id(), here);
                    }
                })
                .await;
                assert_eq!(*not_send, 5);
            })
            .await
            .unwrap();
        });
    });
}

/// Sections, plain tasks, calls, aborts and timeouts of a few colors on many workers.
/// Shows G11.
#[test]
fn colors_exclude_each_other_in_a_storm_of_sections() {
    const COLORS: u64 = 5;
    run(8, async {
        let witnesses: Arc<[Witness]> = Witness::many(COLORS as usize).into();
        let inside: Arc<[AtomicBool]> = (0..COLORS).map(|_| AtomicBool::new(false)).collect();
        let drops = Drops::default();
        let mut tasks = Vec::new();
        for number in 0..4_000_u64 {
            let (color, mut dice) = (number % COLORS, Dice::new(number + 1));
            let (witnesses, inside) = (Arc::clone(&witnesses), Arc::clone(&inside));
            let token = drops.under(color);
            let limit = Duration::from_millis(dice.below(3));
            let task = spawn_colored(color, async move {
                let (witness, inside) = (&witnesses[color as usize], &inside[color as usize]);
                let _token = token;
                if number % 3 == 0 {
                    assert!(!inside.load(Ordering::Relaxed), "in the middle of a section");
                    return witness.touch();
                }
                let section = exclusive(async {
                    let _inside = Inside::begin(inside);
                    for _ in 0..dice.below(6) {
                        witness.touch();
                        match dice.below(4) {
                            0 => yield_now().await,
                            1 => sleep(Duration::ZERO).await,
                            2 => spawn_unique(async {}).await.unwrap(),
                            _ => drop(timeout(Duration::ZERO, pending::<()>()).await),
                        }
                    }
                });
                let _ = timeout(limit, section).await;
            });
            if number % 7 == 0 {
                task.abort();
            }
            tasks.push(task);
        }
        for task in tasks {
            if let Err(error) = task.await {
                assert!(error.is_cancelled(), "{error}");
            }
        }
        drops.assert_exact(4_000);
        assert!(Witness::total(&witnesses) > 1_000);
    });
}

/// A task of the color is inside a section.
struct Inside<'a>(&'a AtomicBool);

impl<'a> Inside<'a> {
    fn begin(inside: &'a AtomicBool) -> Self {
        assert!(!inside.swap(true, Ordering::Relaxed), "two sections of one color at once");
        Self(inside)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
