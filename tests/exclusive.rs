//! `exclusive`: a color that is held across awaits.

use crate::support::drops::Drops;
use crate::support::gate::Gate;
use crate::support::witness::Witness;
use crate::support::{Dice, ON_PURPOSE, Trace, message, run, runtime, shared, wait_until, watched};
use colored::sync::oneshot;
use colored::time::{Duration, sleep, timeout};
use colored::{
    AccessError, Color, ColorCell, exclusive, hop, spawn_colored, spawn_here, spawn_local,
    spawn_unique, yield_now,
};
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

const RED: u64 = 1;
const BLUE: u64 = 2;

/// Polls once.
async fn once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// What a task panicked with.
async fn panic_of_task<R: Send + 'static>(
    color: u64,
    future: impl Future<Output = R> + Send + 'static,
) -> String {
    let error = spawn_colored(color, future).await.err().expect("it was to panic");
    message(&*error.into_panic())
}

#[test]
fn nobody_of_the_color_runs_between_ten_thousand_awaits() {
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

/// What is scheduled during the section, by others and by itself, comes after it in its order.
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
                "call on the own color",
                "task",
                "another",
                "post"
            ]
        );
    });
}

/// Ends only if one worker runs other colors while a section yields, and while one waits.
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

#[test]
fn every_end_gives_the_color_back() {
    run(2, async {
        let drops = Drops::default();
        let section = |token| {
            exclusive(async move {
                pending::<()>().await;
                drop(token);
            })
        };
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
#[test]
fn shutdown_releases_sections_and_what_waits_behind() {
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
                sleep(Duration::from_millis(2)).await;
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
        assert_eq!(trace.take(), ["nested", "short", "long", "behind", "behind"]);
    });
}

/// Polls two futures of one task until both are done.
async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let mut open = [true, true];
    poll_fn(|cx| {
        open[0] = open[0] && one.as_mut().poll(cx).is_pending();
        open[1] = open[1] && other.as_mut().poll(cx).is_pending();
        if open == [false, false] { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The future of a section, taken out of its task after it has been polled.
fn stray(color: u64) -> (colored::JoinHandle<()>, oneshot::Receiver<Pin<Box<Section>>>) {
    let (send, receive) = oneshot::channel();
    let task = spawn_colored(color, async move {
        let mut section: Pin<Box<Section>> = Box::pin(exclusive(Box::pin(pending::<()>())));
        assert!(once(section.as_mut()).await.is_pending());
        send.send(section).map_err(drop).unwrap();
        pending::<()>().await;
    });
    (task, receive)
}

type Section = colored::Exclusive<Pin<Box<std::future::Pending<()>>>>;

#[test]
fn a_section_that_was_taken_away_ends_where_it_is_dropped() {
    run(2, async {
        for round in 0..100 {
            let (task, section) = stray(RED);
            let section = section.await.unwrap();
            let behind = spawn_colored(RED, async {});
            if round % 10 == 0 {
                sleep(Duration::from_millis(1)).await;
                assert!(!behind.is_finished());
            }
            if round % 2 == 0 {
                thread::spawn(move || drop(section)).join().unwrap();
            } else {
                spawn_colored(BLUE, async move { drop(section) }).await.unwrap();
            }
            behind.await.unwrap();
            assert!(!task.is_finished());
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
    });
}

/// One that outlives its task holds nothing any more.
#[test]
fn a_section_that_was_taken_away_ends_with_its_task() {
    run(2, async {
        let (task, section) = stray(RED);
        let section = section.await.unwrap();
        let behind = spawn_colored(RED, async {});
        task.abort();
        behind.await.unwrap();
        let other = spawn_colored(RED, exclusive(sleep(Duration::from_millis(2))));
        let behind = spawn_colored(RED, async {});
        sleep(Duration::from_millis(1)).await;
        drop(section);
        behind.await.unwrap();
        assert!(other.is_finished());
    });
}

#[test]
fn a_section_does_not_go_on_in_another_task() {
    run(2, async {
        let (task, section) = stray(RED);
        let section = section.await.unwrap();
        let owner = task.id();
        let said = panic_of_task(BLUE, section).await;
        assert!(said.contains("tests/exclusive.rs:"), "{said}");
        assert!(said.contains(&format!("{owner:?}")), "{said}");
        spawn_colored(RED, async {}).await.unwrap();
        task.abort();
    });
}

#[test]
fn a_section_stays_under_its_color() {
    run(2, async {
        let line = line!() + 1;
        let said = panic_of_task(RED, exclusive(hop(Color::new(BLUE)))).await;
        assert!(said.contains("hop(color 0x2)"), "{said}");
        assert_eq!(said.matches(&format!("tests/exclusive.rs:{line}")).count(), 2, "{said}");

        let beside = both(exclusive(pending()), hop(Color::new(BLUE)));
        let said = panic_of_task(RED, beside).await;
        assert!(said.contains("beside a section"), "{said}");

        let after = both(hop(Color::new(BLUE)), exclusive(pending()));
        let said = panic_of_task(RED, after).await;
        assert!(said.contains("told to hop to color 0x2"), "{said}");

        spawn_colored(RED, async {
            exclusive(hop(Color::new(RED))).await;
            hop(Color::new(BLUE)).await;
            exclusive(yield_now()).await;
            assert_eq!(Color::current(), Some(Color::new(BLUE)));
        })
        .await
        .unwrap();
    });
}

#[test]
fn what_is_no_section_says_so() {
    watched(|| {
        let mut section = pin!(exclusive(async {}));
        let poll = || section.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let said = crate::support::panic_of(poll);
        assert!(said.contains("outside a task"), "{said}");
    });
    run(1, async {
        let said = panic_of_task(RED, async {
            let mut sections: Vec<_> =
                (0..128).map(|_| Box::pin(exclusive(pending::<()>()))).collect();
            for section in &mut sections {
                assert!(once(section.as_mut()).await.is_pending());
            }
        })
        .await;
        assert!(said.contains("at most 127 sections"), "{said}");
        let said = panic_of_task(RED, async {
            let mut section = pin!(exclusive(async {}));
            section.as_mut().await;
            section.await;
        })
        .await;
        assert!(said.contains("again after it had ended"), "{said}");
    });
}

/// On the thread of a guest and of a worker: the lane goes back to where its task is pinned.
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

#[test]
fn a_cell_gives_its_value_across_awaits() {
    run(2, async {
        let cell = ColorCell::new(Color::new(RED), vec![0]);
        let ours = cell.clone();
        let task = spawn_colored(RED, async move {
            let sum = ours
                .exclusive(async |list| {
                    for step in 1..100 {
                        sleep(Duration::ZERO).await;
                        list.push(step);
                    }
                    list.iter().sum::<i32>()
                })
                .await;
            assert_eq!(ours.with(|list| list.len()), 100);
            sum
        });
        sleep(Duration::from_millis(1)).await;
        cell.post(|list| list.clear());
        assert_eq!(task.await.unwrap(), 4950);
        assert_eq!(cell.call(|list| list.len()).await, 0);
    });
}

/// The section keeps other tasks out, the mark the branches of this one, also those that only ask.
#[test]
fn a_value_in_use_across_an_await_is_in_use() {
    run(2, async {
        let cell = ColorCell::new(Color::new(RED), 7);
        let said = panic_of_task(RED, async move {
            let mut access = Box::pin(cell.exclusive(async |value| {
                *value += 1;
                pending::<()>().await;
            }));
            assert!(once(access.as_mut()).await.is_pending());
            assert_eq!(cell.try_with(|_| ()), Err(AccessError::InUse));
            cell.exclusive(async |_| ()).await;
        })
        .await;
        assert!(said.contains("tests/exclusive.rs") && said.contains("in use"), "{said}");

        let cell = ColorCell::new(Color::new(RED), 7);
        let ours = cell.clone();
        spawn_colored(RED, async move {
            let access = ours.exclusive(async |value| {
                *value += 1;
                pending::<()>().await;
            });
            timeout(Duration::from_millis(1), access).await.unwrap_err();
            assert_eq!(ours.with(|value| *value), 8);
            ours.exclusive(async |value| *value += 1).await;
        })
        .await
        .unwrap();
        assert_eq!(cell.call(|value| *value).await, 9);
        let said = panic_of_task(BLUE, async move { cell.exclusive(async |_| ()).await }).await;
        assert!(said.contains("belongs to color 0x1"), "{said}");
    });
}

/// The borrow and the mark go with the future, wherever that is; until then nobody gets in.
#[test]
fn an_access_that_was_taken_away_ends_where_it_is_dropped() {
    type Access = Pin<Box<dyn Future<Output = ()> + Send>>;
    run(2, async {
        let cell = ColorCell::new(Color::new(RED), vec![1]);
        let (send, receive) = oneshot::channel::<Access>();
        let ours: &'static ColorCell<Vec<u32>> = Box::leak(Box::new(cell.clone()));
        let task = spawn_colored(RED, async move {
            let mut access: Access = Box::pin(ours.exclusive(async |list| {
                list.push(2);
                pending::<()>().await;
            }));
            assert!(once(access.as_mut()).await.is_pending());
            send.send(access).map_err(drop).unwrap();
        });
        let access = receive.await.unwrap();
        task.await.unwrap();
        let within = cell.clone();
        let inside = spawn_colored(RED, async move { within.try_with(|_| ()) }).await.unwrap();
        assert_eq!(inside, Err(AccessError::InUse));
        thread::spawn(move || drop(access)).join().unwrap();
        assert_eq!(cell.call(std::mem::take).await, [1, 2]);
    });
}

/// Sections, plain tasks, calls, aborts and timeouts of a few colors on many workers.
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

/// Somebody of the color is in the middle of a section.
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
