//! Values of which every color has its own.

use crate::support::gate::Gate;
use crate::support::{ON_PURPOSE, Trace, block, panic_of, run, runtime, shared, wait_until};
use colored::sync::oneshot;
use colored::{
    Color, ColorCell, Handle, Runtime, hop, spawn_blocking, spawn_colored, spawn_here, spawn_local,
    spawn_unique, yield_now,
};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

colored::color_local! {
    static COUNT: Cell<u64> = Cell::new(0);
    /// Not `Sync`, and on the heap.
    static NAMES: RefCell<Vec<String>> = RefCell::new(vec!["first".into()]);
}

fn count() -> u64 {
    COUNT.with(|count| {
        count.set(count.get() + 1);
        count.get()
    })
}

#[test]
fn whatever_runs_under_a_color_has_the_same_value() {
    struct Counts;
    impl Drop for Counts {
        fn drop(&mut self) {
            count();
        }
    }
    run(2, async {
        let cell = ColorCell::new(RED, ());
        let (own, last) = (cell.clone(), Counts);
        spawn_colored(RED, async move {
            assert_eq!(count(), 1);
            assert_eq!(spawn_here(async { count() }).await.unwrap(), 2);
            own.post(|()| _ = count());
            assert_eq!(own.call(|()| count()).await, 3, "at once, ahead of the post");
            spawn_local(async { _ = count() }).await.unwrap();
            drop(last);
        })
        .await
        .unwrap();
        assert_eq!(cell.call(|()| count()).await, 7);
        assert_eq!(spawn_colored(BLUE, async { count() }).await.unwrap(), 1);
        assert_eq!(count(), 1, "the main future's own");
    });
}

#[test]
fn after_a_hop_the_other_colors_value_is_there() {
    run(2, async {
        let keep = [RED, BLUE].map(|color| ColorCell::new(color, ()));
        let task = spawn_colored(RED, async {
            count();
            hop(BLUE).await;
            count();
            count();
            hop(RED).await;
            let red = count();
            hop(BLUE).await;
            (red, count())
        });
        assert_eq!(task.await.unwrap(), (2, 3));
        drop(keep);
    });
}

/// A call that runs on its caller's thread is under the cell's color, and the caller's is there again
/// afterwards.
#[test]
fn inside_a_call_it_is_the_cells() {
    run(1, async {
        let cell = ColorCell::new(RED, ());
        count();
        count();
        assert_eq!(cell.call(|()| (count(), Color::current())).await, (1, Some(RED)));
        assert_eq!(count(), 3);
    });
}

/// One color, moved from worker to worker by force.
#[test]
fn a_value_survives_a_thousand_migrations() {
    const MIGRATIONS: u64 = 1_000;
    run(2, async {
        let counts = spawn_colored(RED, async {
            let (mut moved, mut turns) = (0, 0);
            while moved < MIGRATIONS {
                turns += 1;
                assert_eq!(count(), turns);
                NAMES.with(|names| names.borrow_mut().push(turns.to_string()));
                let here = thread::current().id();
                wait_for_another_worker().await;
                moved += u64::from(thread::current().id() != here);
            }
            let names = NAMES.with(|names| names.borrow().len() as u64);
            assert_eq!((count(), names), (turns + 1, turns + 1));
        });
        counts.await.unwrap();
    });
}

/// Waits for something that ends on another worker, which then runs the caller: most times.
async fn wait_for_another_worker() {
    let (begin, begun) = mpsc::channel();
    let elsewhere = spawn_unique(async move {
        begin.send(()).unwrap();
        // The caller shall be waiting when this ends.
        block(Duration::from_micros(50));
    });
    // The lane made runnable last is kept for this worker. So the one above can be stolen, and is,
    // for this one is stuck.
    drop(spawn_unique(async {}));
    begun.recv().unwrap();
    elsewhere.await.unwrap();
}

/// Sixteen colors and as many uses of each, on four workers: every color counts its own.
#[test]
fn colors_do_not_share() {
    const COLORS: u64 = 16;
    const USES: u64 = 2_000;
    run(4, async {
        let keep: Vec<_> = (1..=COLORS).map(|color| ColorCell::new(color, ())).collect();
        let tasks: Vec<_> = (0..COLORS * USES)
            .map(|number| {
                spawn_colored(1 + number % COLORS, async {
                    let before = COUNT.with(Cell::get);
                    std::hint::spin_loop();
                    COUNT.with(|count| count.set(before + 1));
                    let mine = format!("{:?}", Color::current());
                    NAMES.with(|names| names.borrow_mut().push(mine));
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        for cell in keep {
            let uses = |(): &mut ()| {
                let mine = format!("{:?}", Color::current());
                let names = NAMES.with(RefCell::take);
                assert!(names[1..].iter().all(|name| *name == mine));
                (COUNT.with(Cell::get), names.len() as u64 - 1)
            };
            assert_eq!(cell.call(uses).await, (USES, USES));
        }
    });
}

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

/// Colors that become idle and are used again at any moment, from four threads: every value is dropped
/// once, under its color, and never while the color has a task.
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
                    // One at a time, or `inside` would be two tasks'.
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

colored::color_local!(static TURN: Cell<bool> = Cell::new(false));

/// Each of the colors has a reason to stay: a task that waits, a cell, a handle. The values go all the
/// same, after the tasks of their colors.
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
fn what_a_value_owns_of_its_own_color_does_not_keep_it_past_the_runtime() {
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
fn destructors_find_what_has_not_been_dropped() {
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
fn a_destructor_that_panics_harms_nobody() {
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
        let next = runtime.handle().spawn_colored(RED, async { count() });
        assert_eq!(runtime.run(async { next.await.unwrap() }), 1);
    });
}

#[test]
fn an_initializer_may_panic_or_use_others() {
    thread_local!(static FAIL: Cell<bool> = const { Cell::new(true) });
    colored::color_local! {
        static SOMETIMES: u64 = if FAIL.replace(false) { panic!("{ON_PURPOSE}") } else { count() };
        static ITSELF: u64 = if count() > 3 { 5 } else { ITSELF.with(|inner| *inner) + 1 };
    }
    run(1, async {
        let first = spawn_here(async { SOMETIMES.with(|value| *value) }).await;
        assert!(first.unwrap_err().is_panic());
        assert_eq!(SOMETIMES.with(|value| *value), 1);
        assert_eq!(SOMETIMES.with(|value| *value), 1, "made once");
        assert_eq!(ITSELF.with(|value| *value), 5, "the innermost stays");
    });
}

#[test]
fn outside_a_color_there_is_none() {
    shared(|| {
        let runtime = runtime(1);
        let said = panic_of(|| COUNT.with(Cell::get));
        assert!(said.contains("`COUNT` belongs to a color"), "{said}");
        let (none, mut seen) = (|| COUNT.try_with(|_| ()).is_err(), HashSet::new());
        seen.insert(none());
        let _entered = runtime.enter();
        seen.insert(none());
        seen.insert(runtime.run(async move { spawn_blocking(none).await.unwrap() }));
        assert_eq!(seen, HashSet::from([true]));
        assert_eq!(runtime.block_on(async { count() }), 1);
        assert_eq!(format!("{COUNT:?}"), "ColorLocal { name: \"COUNT\", .. }");
    });
}

/// Two runtimes, and one color of that number in each.
#[test]
fn each_runtime_has_its_own() {
    shared(|| {
        let runtimes = [runtime(1), runtime(1)];
        let red = |runtime: &Runtime| {
            let gate = Gate::close(runtime.handle(), RED);
            let counts = [0; 2].map(|_| runtime.handle().spawn_colored(RED, async { count() }));
            gate.open();
            runtime.run(async {
                let [first, second] = counts;
                (first.await.unwrap(), second.await.unwrap())
            })
        };
        assert_eq!(runtimes.each_ref().map(red), [(1, 2), (1, 2)]);
    });
}
