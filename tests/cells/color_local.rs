//! Values of which every color has its own.

use colored::{
    Color, ColorCell, Runtime, hop, spawn_blocking, spawn_colored, spawn_here, spawn_local,
    spawn_unique,
};
use colored_tests::gate::Gate;
use colored_tests::{ON_PURPOSE, block, join_all, panic_of, run, runtime, shared};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::mpsc;
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
fn all_work_under_a_color_has_the_same_value() {
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
            assert_eq!(own.call(|()| count()).await, 4, "behind the post");
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

/// Waits for a task that usually ends on another worker, which then runs the caller.
async fn wait_for_another_worker() {
    let (begin, begun) = mpsc::channel();
    let elsewhere = spawn_unique(async move {
        begin.send(()).unwrap();
        // The caller must be waiting when this ends.
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
        join_all((0..COLORS * USES).map(|number| {
            spawn_colored(1 + number % COLORS, async {
                let before = COUNT.with(Cell::get);
                std::hint::spin_loop();
                COUNT.with(|count| count.set(before + 1));
                let mine = format!("{:?}", Color::current());
                NAMES.with(|names| names.borrow_mut().push(mine));
            })
        }))
        .await;
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

/// Two runtimes, each with a color of the same number.
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
