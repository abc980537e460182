//! Values that are set for the length of a future.

use colored::sync::oneshot;
use colored::{Color, hop, spawn_colored, spawn_here, spawn_unique, yield_now};
use colored_tests::polls::waits;
use colored_tests::{ON_PURPOSE, Trace, block, panic_of, run, runtime, shared};
use std::cell::Cell;
use std::collections::HashSet;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

colored::task_local! {
    static NUMBER: u32;
    /// A second key, of a type that is not `Clone`.
    static TEXT: Box<str>;
}

colored::task_local!(static COUNT: Cell<u64>);

#[test]
fn a_value_moves_with_its_task_between_workers_and_colors() {
    run(4, async {
        let task = |number: u32| {
            spawn_unique(NUMBER.scope(number, async move {
                let mut threads = HashSet::new();
                for round in 0..200 {
                    hop(Color::new(round % 7)).await;
                    assert_eq!(NUMBER.get(), number);
                    yield_now().await;
                    assert_eq!(NUMBER.with(|value| *value), number);
                    threads.insert(thread::current().id());
                    if round % 50 == 0 {
                        block(Duration::from_micros(200));
                    }
                }
                threads.len()
            }))
        };
        let mut most = 0;
        for task in (0..64).map(task).collect::<Vec<_>>() {
            most = most.max(task.await.unwrap());
        }
        assert!(most > 1, "no task has met a second worker");
        assert!(NUMBER.try_with(|_| ()).is_err());
        assert!(NUMBER.try_get().is_err());
        assert_eq!(NUMBER.scope(7, async { NUMBER.try_get() }).await, Ok(7));
    });
}

/// Two tasks of one color that take turns, and a third without a value between them.
#[test]
fn tasks_that_take_turns_have_their_own_values() {
    run(1, async {
        let turns = |number| {
            COUNT.scope(Cell::new(number), async {
                for _ in 0..100 {
                    COUNT.with(|count| count.set(count.get() + 2));
                    yield_now().await;
                }
                COUNT.with(Cell::get)
            })
        };
        let (even, odd) = (spawn_here(turns(0)), spawn_here(turns(1)));
        let without = spawn_here(async {
            for _ in 0..100 {
                assert!(COUNT.try_with(|_| ()).is_err());
                yield_now().await;
            }
        });
        assert_eq!((even.await.unwrap(), odd.await.unwrap()), (200, 201));
        without.await.unwrap();
    });
}

#[test]
fn a_nested_scope_hides_the_outer_one_and_gives_it_back() {
    run(2, async {
        let nested = NUMBER.scope(1, async {
            let inner = NUMBER.scope(2, async {
                yield_now().await;
                let innermost = NUMBER.sync_scope(3, || NUMBER.get());
                (NUMBER.get(), innermost)
            });
            assert_eq!(NUMBER.get(), 1);
            let inner = inner.await;
            TEXT.scope("other".into(), async {
                assert_eq!(TEXT.with(|text| text.len()), 5);
                assert_eq!(NUMBER.get(), 1, "another key hides nothing");
            })
            .await;
            (NUMBER.get(), inner)
        });
        assert_eq!(spawn_unique(nested).await.unwrap(), (1, (2, 3)));
    });
}

#[test]
fn a_spawned_task_does_not_inherit_it() {
    run(2, async {
        let outer = NUMBER.scope(1, async {
            let bare = spawn_here(async { NUMBER.try_with(|number| *number).is_ok() });
            let wrapped = spawn_here(NUMBER.scope(NUMBER.get(), async { NUMBER.get() }));
            (bare.await.unwrap(), wrapped.await.unwrap())
        });
        assert_eq!(outer.await, (false, 1));
    });
}

/// Records the key's value at its drop.
struct Sees(Trace<Option<u32>>);

impl Drop for Sees {
    fn drop(&mut self) {
        self.0.push(NUMBER.try_with(|number| *number).ok());
    }
}

#[test]
fn the_future_is_dropped_inside_its_scope_however_it_ends() {
    let trace = Trace::new();
    let sees = || Sees(trace.clone());
    shared(|| {
        let runtime = runtime(2);
        let (completes, panics, aborted, ends) = (sees(), sees(), sees(), sees());
        runtime.run(async move {
            spawn_unique(NUMBER.scope(1, async move { drop(completes) })).await.unwrap();
            let panics = NUMBER.scope(2, async move {
                let _panics = panics;
                yield_now().await;
                panic!("{ON_PURPOSE}");
            });
            assert!(spawn_unique(panics).await.unwrap_err().is_panic());
            let (begun, begins) = oneshot::channel();
            let waits = spawn_unique(NUMBER.scope(3, async move {
                let _aborted = aborted;
                begun.send(()).unwrap();
                pending::<()>().await;
            }));
            begins.await.unwrap();
            waits.abort();
            assert!(waits.await.unwrap_err().is_cancelled());
            let (begun, begins) = oneshot::channel();
            drop(spawn_colored(
                9,
                NUMBER.scope(4, async move {
                    let _ends = ends;
                    begun.send(()).unwrap();
                    pending::<()>().await;
                }),
            ));
            begins.await.unwrap();
        });
        drop(runtime);
        // A scope that was never polled, on a thread that is no worker.
        let never = sees();
        drop(NUMBER.scope(5, async move { drop(never) }));
    });
    assert_eq!(trace.take(), [1, 2, 3, 4, 5].map(Some));
}

/// The value is dropped after the future, outside the scope, under the task's color.
#[test]
fn the_value_goes_with_its_task() {
    struct Value(Trace<(Option<Color>, bool)>);
    impl Drop for Value {
        fn drop(&mut self) {
            self.0.push((Color::current(), VALUE.try_with(|_| ()).is_ok()));
        }
    }
    colored::task_local!(static VALUE: Value);
    let trace = Trace::new();
    let own = trace.clone();
    run(2, async move {
        spawn_colored(5, VALUE.scope(Value(own), yield_now())).await.unwrap();
    });
    assert_eq!(trace.take(), [(Some(Color::new(5)), false)]);
}

#[test]
fn a_panic_gives_the_outer_value_back() {
    let poll = |future: Pin<&mut dyn Future<Output = ()>>| {
        future.poll(&mut Context::from_waker(Waker::noop()))
    };
    shared(|| {
        NUMBER.sync_scope(1, || {
            let mut panics = pin!(NUMBER.scope(2, async { panic!("{ON_PURPOSE}") }));
            assert!(catch_unwind(AssertUnwindSafe(|| poll(panics.as_mut()))).is_err());
            assert_eq!(NUMBER.get(), 1);
            let failed = || NUMBER.sync_scope(3, || panic!("{ON_PURPOSE}"));
            assert!(catch_unwind(failed).is_err());
            assert_eq!(NUMBER.get(), 1);
        });
        assert!(NUMBER.try_with(|_| ()).is_err());
    });
}

#[test]
fn a_value_can_be_taken_out_and_is_gone_then() {
    run(1, async {
        let mut scope = pin!(NUMBER.scope(8, async {
            let first = NUMBER.get();
            yield_now().await;
            (first, NUMBER.try_with(|_| ()).is_ok())
        }));
        assert!(waits(scope.as_mut()).await);
        assert_eq!(scope.as_mut().take_value(), Some(8));
        assert_eq!(scope.as_mut().await, (8, false));
        assert_eq!(scope.as_mut().take_value(), None);
        let mut done = pin!(NUMBER.scope(9, async {}));
        done.as_mut().await;
        assert_eq!(done.as_mut().take_value(), Some(9), "also when all is over");
    });
}

#[test]
fn errors_name_the_key() {
    shared(|| {
        let said = panic_of(|| NUMBER.get());
        assert!(said.contains("`NUMBER.scope(value, future)`"), "{said}");
        let said =
            panic_of(|| NUMBER.sync_scope(1, || NUMBER.with(|_| NUMBER.sync_scope(2, || ()))));
        assert!(said.contains("inside `NUMBER.with(..)`"), "{said}");
        assert_eq!(NUMBER.sync_scope(1, || NUMBER.with(|_| NUMBER.with(|number| *number))), 1);
        assert_eq!(format!("{NUMBER:?}"), "LocalKey { name: \"NUMBER\", .. }");
    });
}
