//! G3, G4, G5: which color a task has, and that colors are exact.

use super::{BLUE, RED};
use crate::support::{Gate, KINDS, Kind, Witness, run, runtime, spawn_as, until, wait_until};
use colored::sync::oneshot;
use colored::task::JoinHandle;
use colored::{Color, ColorCell};
use colored_stackful as stackful;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A task that names no color, and takes steps.
fn spawn_without_color(kind: Kind, steps: usize, witness: &Arc<Witness>) -> JoinHandle<()> {
    let witness = Arc::clone(witness);
    match kind {
        Kind::Future => colored::spawn(async move {
            for _ in 0..steps {
                witness.touch();
                colored::yield_now().await;
            }
        }),
        Kind::Stackful => stackful::Builder::new().spawn(move || {
            for _ in 0..steps {
                witness.touch();
                stackful::yield_now();
            }
        }),
    }
}

/// Shows G3.
#[test]
fn what_names_no_color_is_serial() {
    const TASKS: usize = 16;
    const STEPS: usize = 300;
    let witness = Arc::new(Witness::default());
    let ours = Arc::clone(&witness);
    run(4, async move {
        let tasks: Vec<_> =
            (0..TASKS).map(|index| spawn_without_color(Kind::of(index), STEPS, &ours)).collect();
        // The main future has no color of its own either.
        for _ in 0..STEPS {
            ours.touch();
            colored::yield_now().await;
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(witness.count(), (TASKS + 1) * STEPS);
}

/// Shows G3, G4.
#[test]
fn a_child_has_the_default_color_unless_it_asks_for_its_parents() {
    for kind in KINDS {
        run(2, async move {
            let parent = spawn_as!(kind, RED, {
                let future = wait!(colored::spawn(async { Color::current() })).unwrap();
                let closure = wait!(stackful::Builder::new().spawn(Color::current)).unwrap();
                let here = wait!(colored::spawn_here(async { Color::current() })).unwrap();
                let fresh = wait!(stackful::spawn_unique(Color::current)).unwrap();
                (future, closure, here, fresh, Color::current())
            });
            let (future, closure, here, fresh, own) = parent.await.unwrap();
            let (default, red) = (Some(Color::DEFAULT), Some(Color::new(RED)));
            assert_eq!((future, closure, here, own), (default, default, red, red), "{kind:?}");
            assert!(![default, red].contains(&fresh), "{fresh:?}");
        });
    }
}

/// Shows G4.
#[test]
fn a_wake_and_a_call_carry_no_color() {
    for (sleeper, waker) in Kind::pairs() {
        run(2, async move {
            let cell = ColorCell::new(BLUE, ());
            let (wake, woken) = oneshot::channel();
            let waits = spawn_as!(sleeper, RED, {
                wait!(woken).unwrap();
                let woken = Color::current();
                let called = wait!(cell.call(|()| Color::current()));
                (woken, called, Color::current())
            });
            let wakes = spawn_as!(waker, BLUE, { wake.send(()).unwrap() });
            wakes.await.unwrap();
            let [red, blue] = [RED, BLUE].map(|color| Some(Color::new(color)));
            assert_eq!(waits.await.unwrap(), (red, blue, red), "{sleeper:?} {waker:?}");
        });
    }
}

/// Shows G5.
#[test]
fn a_color_that_is_held_delays_no_other_color() {
    const COLORS: u64 = 2_000;
    for kind in KINDS {
        run(4, async move {
            let held = Color::new(10 + COLORS);
            let (done, behind) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let gate = Gate::close(held);
            let task = {
                let behind = Arc::clone(&behind);
                kind.spawn_steps(held, 1, move |_| {
                    behind.fetch_add(1, Ordering::Relaxed);
                })
            };
            for color in 0..COLORS {
                let done = Arc::clone(&done);
                drop(Kind::of(color as usize).spawn_steps(Color::new(10 + color), 3, move |_| {
                    done.fetch_add(1, Ordering::Relaxed);
                }));
            }
            until(|| done.load(Ordering::Relaxed) == 3 * COLORS as usize).await;
            assert_eq!(behind.load(Ordering::Relaxed), 0, "its color is held");
            gate.open().await;
            task.await.unwrap();
        });
    }
}

/// Shows G5.
#[test]
fn a_color_is_gone_with_its_last_task() {
    let runtime = runtime(2);
    runtime.run(async {
        for color in 10..10_010 {
            let tasks = KINDS.map(|kind| kind.spawn_steps(Color::new(color), 2, |_| ()));
            for task in tasks {
                task.await.unwrap();
            }
        }
    });
    wait_until(|| runtime.metrics().colors < 10);
}
