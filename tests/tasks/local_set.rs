//! Sets of tasks that stay on their thread.

use colored::task::{JoinSet, LocalSet, spawn_local};
use colored::{Color, Runtime, yield_now};
use colored_tests::drops::keep;
use colored_tests::{ON_PURPOSE, panic_of};
use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

fn runtime() -> Runtime {
    Runtime::builder().workers(2).build().unwrap()
}

/// Whoever spawns them: the set, a future inside of it, or a task of it.
#[test]
fn a_set_waits_for_its_tasks() {
    let (set, count) = (LocalSet::new(), Rc::new(Cell::new(0)));
    let counts = Rc::clone(&count);
    runtime().block_on(async {
        let others = spawn_local(pending::<()>());
        let one = || {
            let count = Rc::clone(&counts);
            async move {
                for _ in 0..3 {
                    yield_now().await;
                }
                count.set(count.get() + 1);
            }
        };
        set.spawn_local(one());
        let inner = one();
        set.run_until(async { drop(spawn_local(async move { drop(spawn_local(inner)) })) }).await;
        {
            let _inside = set.enter();
            spawn_local(one());
        }
        set.await;
        assert!(!others.is_finished(), "it does not belong to the set");
    });
    assert_eq!(count.get(), 3);
}

#[test]
fn the_end_of_a_set_is_the_end_of_its_tasks() {
    let dropped = Rc::new(Cell::new(0));
    struct Counts(Rc<Cell<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let count = Rc::clone(&dropped);
    runtime().block_on(async move {
        let set = LocalSet::new();
        let tasks: Vec<_> = (0..10)
            .map(|_| {
                let counts = Counts(Rc::clone(&count));
                set.spawn_local(keep(counts, pending::<()>()))
            })
            .collect();
        yield_now().await;
        drop(set);
        for task in tasks {
            assert!(task.await.unwrap_err().is_cancelled());
        }
        assert_eq!(count.get(), 10);
    });
    assert_eq!(dropped.get(), 10);
}

#[test]
fn tasks_of_a_set_have_the_color_of_the_caller_and_their_panics_their_handles() {
    runtime().run(async {
        let set = Color::new(7);
        let color = colored::spawn_pinned(0, set, || async {
            let set = LocalSet::new();
            let color = set.spawn_local(async { Color::current() }).await.unwrap();
            let panicked = set.spawn_local(async { panic!("{ON_PURPOSE}") });
            assert!(panicked.await.unwrap_err().is_panic());
            let mut outputs = JoinSet::new();
            outputs.spawn_local_on(async { Rc::new(1) }, &set);
            assert_eq!(*outputs.join_next().await.unwrap().unwrap(), 1);
            set.await;
            color
        });
        assert_eq!(color.unwrap().await.unwrap(), Some(set));
    });
}

#[test]
fn a_set_blocks_on_a_future_and_is_of_no_use_outside() {
    let (runtime, set) = (runtime(), LocalSet::new());
    let output = set.block_on(&runtime, async {
        let shared = Rc::new(7);
        *spawn_local(async move { shared }).await.unwrap()
    });
    assert_eq!(output, 7);
    let text = panic_of(|| set.spawn_local(async {}));
    assert!(text.contains("`spawn_local` on a thread that is no worker"), "{text}");
    // The task that there is not is not waited for.
    runtime.block_on(set);
}
