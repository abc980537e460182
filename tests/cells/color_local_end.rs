//! Values of colors at their end: dropped once, under their color, when it is idle or the runtime ends.

use colored::sync::oneshot;
use colored::{Color, ColorCell, Handle, spawn_colored, spawn_unique, yield_now};
use colored_tests::{ON_PURPOSE, Trace, runtime, shared, wait_until};
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

const RED: Color = Color::new(1);

/// Notes where it is dropped.
struct Noted(Color, Trace<(Color, Option<Color>)>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.1.push((self.0, Color::current()));
    }
}

type Slot = RefCell<Option<Noted>>;

colored::color_local!(static NOTED: Slot = RefCell::new(None));

fn note(trace: &Trace<(Color, Option<Color>)>) {
    let noted = Noted(Color::current().unwrap(), trace.clone());
    NOTED.with(|slot| assert!(slot.replace(Some(noted)).is_none(), "a value that was not new"));
}

/// Shows G5.
#[test]
fn it_is_freed_when_the_color_goes_idle() {
    let trace = Trace::new();
    let notes = trace.clone();
    shared(|| {
        let runtime = runtime(2);
        for round in 1..=100 {
            let (waits, goes, notes) = (trace.clone(), oneshot::channel(), notes.clone());
            let (go, gone) = goes;
            let task = runtime.handle().spawn_colored(RED, async move {
                note(&notes);
                gone.await.unwrap();
                assert!(NOTED.with(|slot| slot.borrow().is_some()));
            });
            let other = runtime.handle().spawn_colored(RED, async {});
            runtime.run(async { other.await.unwrap() });
            assert_eq!(waits.len(), round - 1, "the color has a task that waits");
            go.send(()).unwrap();
            runtime.run(async { task.await.unwrap() });
            wait_until(|| trace.len() == round);
            wait_until(|| runtime.metrics().colors == 1);
        }
    });
    let drops = trace.take();
    assert!(drops.iter().all(|drop| *drop == (RED, Some(RED))), "{drops:?}");
}

/// A color that only its task knows, before and after it has asked which it is.
#[test]
fn a_fresh_color_frees_its_own_too() {
    let trace = Trace::new();
    let notes = trace.clone();
    shared(|| {
        let runtime = runtime(2);
        runtime.run(async move {
            for _ in 0..1_000 {
                let notes = notes.clone();
                // `note` asks for the color, which enters it into the table.
                spawn_unique(async move { note(&notes) }).await.unwrap();
                let dropped = Arc::new(AtomicU64::new(0));
                let own = Dropped(Arc::clone(&dropped));
                let silent = spawn_unique(async move {
                    ANONYMOUS.with(|slot| slot.set(Some(own)));
                    yield_now().await;
                    assert!(
                        ANONYMOUS
                            .with(|slot| slot.replace(None).map(|own| slot.set(Some(own))))
                            .is_some()
                    );
                });
                silent.await.unwrap();
                while dropped.load(Ordering::Acquire) == 0 {
                    yield_now().await;
                }
            }
        });
        drop(runtime);
    });
    let drops = trace.take();
    assert_eq!(drops.len(), 1_000);
    assert!(drops.iter().all(|(made, dropped)| *dropped == Some(*made)), "{drops:?}");
}

struct Dropped(Arc<AtomicU64>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // Only inside the same color is there a value of it: the one that is being dropped.
        let said = ANONYMOUS.try_with(|_| ()).unwrap_err().to_string();
        assert!(said.contains("has been dropped"), "{said}");
        self.0.fetch_add(1, Ordering::Release);
    }
}

colored::color_local!(static ANONYMOUS: Cell<Option<Dropped>> = Cell::new(None));

colored::color_local!(static TURN: Cell<bool> = Cell::new(false));

/// Colors that become idle and are used again at any moment, from four threads: every value is dropped
/// once, under its color, and never while the color has a task.
/// Shows G5.
#[test]
fn values_are_dropped_once_while_colors_come_and_go() {
    const TASKS: u64 = 40_000;
    const COLORS: u64 = 3;
    static MADE: AtomicU64 = AtomicU64::new(0);
    static GONE: AtomicU64 = AtomicU64::new(0);
    struct Life {
        color: Color,
        inside: Cell<bool>,
    }
    impl Life {
        fn new() -> Self {
            MADE.fetch_add(1, Ordering::Relaxed);
            Self { color: Color::current().unwrap(), inside: Cell::new(false) }
        }
    }
    impl Drop for Life {
        fn drop(&mut self) {
            let right = Color::current() == Some(self.color) && !self.inside.get();
            GONE.fetch_add(if right { 1 } else { 1 << 32 }, Ordering::Relaxed);
        }
    }
    colored::color_local!(static LIFE: Life = Life::new());
    shared(|| {
        let runtime = runtime(4);
        let spawn = |handle: Handle| {
            for number in 0..TASKS {
                let task = async {
                    LIFE.with(|life| assert!(!life.inside.replace(true)));
                    yield_now().await;
                    // The same value: it stays as long as the color has a task.
                    LIFE.with(|life| assert!(life.inside.replace(false)));
                };
                drop(handle.spawn_colored(10 + number % COLORS, async move {
                    // One task at a time, or `inside` would count two.
                    if TURN.with(|turn| turn.replace(true)) {
                        return;
                    }
                    task.await;
                    TURN.with(|turn| turn.set(false));
                }));
                (0..number % 64).for_each(|_| std::hint::spin_loop());
            }
        };
        let spawners = [0; 2].map(|_| {
            let handle = runtime.handle().clone();
            thread::spawn(move || spawn(handle))
        });
        spawners.into_iter().for_each(|spawner| spawner.join().unwrap());
        wait_until(|| runtime.metrics().colors == 1);
        wait_until(|| GONE.load(Ordering::Relaxed) >= MADE.load(Ordering::Relaxed));
        let (made, gone) = (MADE.load(Ordering::Relaxed), GONE.load(Ordering::Relaxed));
        assert_eq!(made, gone, "more than 2³² of them were dropped elsewhere");
        assert!(made > COLORS, "no color was ever idle");
    });
}

/// Each of the colors has a reason to stay: a task that waits, a cell, a handle. The values are still dropped, after
/// the tasks of their colors.
/// Shows G8.
#[test]
fn shutdown_drops_the_values_after_the_tasks() {
    struct Ends(Trace<(Color, Option<Color>)>, Color);
    impl Drop for Ends {
        fn drop(&mut self) {
            // The value is still there.
            assert!(NOTED.with(|slot| slot.borrow().is_some()));
            self.0.push((self.1, None));
        }
    }
    let trace = Trace::new();
    let colors = [Color::DEFAULT, RED, Color::unique()];
    shared(|| {
        let runtime = runtime(2);
        let handle = runtime.handle().clone();
        let mut cells = Vec::new();
        for color in colors {
            let (notes, begun) = (trace.clone(), oneshot::channel());
            cells.push(handle.cell(color, ()));
            let (tell, told) = begun;
            drop(handle.spawn_colored(color, async move {
                note(&notes);
                let _ends = Ends(notes, color);
                tell.send(()).unwrap();
                pending::<()>().await;
            }));
            runtime.run(async { told.await.unwrap() });
        }
        assert_eq!(trace.len(), 0);
        runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
        let drops = trace.take();
        assert_eq!(drops.len(), 2 * colors.len());
        for color in colors {
            let own = drops.iter().filter(|(of, _)| *of == color).collect::<Vec<_>>();
            assert_eq!(own, [&(color, None), &(color, Some(color))], "the task, then the value");
        }
        // A color of a runtime that has ended can still have values, up to its last reference.
        let notes = trace.clone();
        let mut call = Box::pin(cells[1].call(move |()| note(&notes)));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        drop(call);
        assert_eq!(trace.len(), 0);
        drop((cells, handle));
        assert_eq!(trace.take(), [(RED, Some(RED))]);
    });
}

#[test]
fn a_value_that_owns_handles_of_its_own_color_does_not_outlive_the_runtime() {
    colored::color_local!(static CYCLE: RefCell<Option<(ColorCell<Counted>, Handle)>> = RefCell::new(None));
    struct Counted(Arc<AtomicU64>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    shared(|| {
        let (runtime, dropped) = (runtime(2), Arc::new(AtomicU64::new(0)));
        let counts = Arc::clone(&dropped);
        runtime.run(async move {
            for color in [Color::DEFAULT, RED] {
                let counted = Counted(Arc::clone(&counts));
                let bind = async move {
                    let cell = ColorCell::new(color, counted);
                    CYCLE.with(|cycle| cycle.replace(Some((cell, Handle::current()))));
                };
                spawn_colored(color, bind).await.unwrap();
            }
        });
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        drop(runtime);
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
    });
}

/// The order, and what the destructor of a value finds of the others.
#[test]
fn destructors_find_the_values_that_are_not_yet_dropped() {
    struct Says(&'static str);
    impl Drop for Says {
        fn drop(&mut self) {
            let is_there =
                |local: &'static colored::ColorLocal<Says>| local.try_with(|_| ()).is_ok();
            let found = [&OLD, &NEW].map(is_there);
            // The first one makes another, which has to go as well.
            if self.0 == "new" {
                LATE.with(|late| assert_eq!(late.0, "late"));
            }
            TOLD.with(|told| told.borrow().push((self.0, found, Color::current())));
        }
    }
    colored::color_local! {
        static OLD: Says = Says("old");
        static NEW: Says = Says("new");
        static LATE: Says = Says("late");
        static TOLD: RefCell<Trace<(&'static str, [bool; 2], Option<Color>)>> =
            RefCell::new(Trace::new());
    }
    let trace = Trace::new();
    let tells = trace.clone();
    shared(|| {
        let runtime = runtime(2);
        let task = runtime.handle().spawn_colored(RED, async move {
            TOLD.with(|told| told.replace(tells));
            OLD.with(|_| NEW.with(|new| assert_eq!(new.0, "new")));
        });
        runtime.run(async { task.await.unwrap() });
        wait_until(|| trace.len() == 3);
    });
    let red = Some(RED);
    let expected =
        [("new", [true, false], red), ("late", [true, false], red), ("old", [false, false], red)];
    assert_eq!(trace.take(), expected);
}

#[test]
fn a_destructor_that_panics_harms_no_other_value() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("{ON_PURPOSE}");
        }
    }
    colored::color_local!(static PANICS: Panics = Panics);
    let trace = Trace::new();
    let notes = trace.clone();
    shared(|| {
        let runtime = runtime(1);
        runtime.run(async move {
            let task = async move {
                note(&notes);
                PANICS.with(|_| ());
            };
            spawn_colored(RED, task).await.unwrap();
        });
        wait_until(|| trace.len() == 1);
        wait_until(|| runtime.metrics().colors == 1);
        let is_new = async { NOTED.with(|slot| slot.borrow().is_none()) };
        let next = runtime.handle().spawn_colored(RED, is_new);
        assert!(runtime.run(async { next.await.unwrap() }), "the next one");
    });
}
