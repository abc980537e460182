//! Runtimes inside runtimes: the uses that work, and the errors of those that do not.

use colored::stage::{Builder, each};
use colored::{Color, Runtime, spawn_blocking, spawn_unique};
use colored_tests::drops::keep;
use colored_tests::{message, panic_of, runtime, shared, wait_until};
use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const RED: Color = Color::new(1);

/// Counts its drops.
struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn count(dropped: &Arc<AtomicU64>) -> u64 {
    dropped.load(Ordering::Relaxed)
}

/// Runtimes in blocking calls of runtimes, several levels deep: each is built, used in every way and dropped there.
#[test]
fn a_blocking_call_has_a_runtime_of_its_own() {
    fn deep(depth: u64) -> u64 {
        let own = runtime(1);
        let below = move || if depth == 0 { 0 } else { deep(depth - 1) };
        let sum = own.run(async move { 1 + spawn_blocking(below).await.unwrap() });
        sum + own.block_on(async { spawn_unique(async { 10 }).await.unwrap() })
    }
    shared(|| assert_eq!(deep(3), 44));
}

/// The runtime that a blocking call belongs to may be waited for there.
#[test]
fn a_blocking_call_blocks_on_its_own_runtime() {
    shared(|| {
        let runtime = runtime(1);
        let handle = runtime.handle().clone();
        let call = runtime.spawn_blocking(move || {
            let inner = handle.spawn_colored(RED, async { 1 });
            handle.block_on(async move { inner.await.unwrap() + 1 })
        });
        assert_eq!(runtime.block_on(call).unwrap(), 2);
    });
}

/// A task may make a runtime, wait for what runs there, and drop it.
#[test]
fn a_task_has_a_runtime_of_its_own() {
    shared(|| {
        for workers in [1, 2] {
            let (outer, dropped) = (runtime(workers), Arc::new(AtomicU64::new(0)));
            let counted = Counted(Arc::clone(&dropped));
            let sum = outer.run(async move {
                let inner = runtime(1);
                let waits = inner.spawn_colored(RED, keep(counted, pending::<()>()));
                let cell = inner.handle().cell(RED, 1);
                let sum = inner.spawn(async { 1 }).await.unwrap() + cell.call(|n| *n).await;
                drop(inner);
                assert!(waits.await.unwrap_err().is_cancelled());
                sum + spawn_unique(async { 1 }).await.unwrap()
            });
            assert_eq!((sum, count(&dropped)), (3, 1));
        }
    });
}

/// Waiting for another runtime would block the worker: the call panics and says so, and both runtimes go on.
#[test]
fn a_task_must_not_block_on_a_runtime_of_its_own() {
    shared(|| {
        let outer = runtime(1);
        let texts = outer.run(async {
            let inner = runtime(1);
            let texts = [panic_of(|| inner.run(async {})), panic_of(|| inner.block_on(async {}))];
            assert_eq!(inner.spawn(async { 1 }).await.unwrap(), 1);
            texts
        });
        assert!(texts[0].contains("inside a task"), "{texts:?}");
        assert!(texts[1].contains("inside a task"), "{texts:?}");
        let said = panic_of(|| outer.block_on(async { runtime(1).block_on(async {}) }));
        assert!(said.contains("inside a task") || said.contains("another `block_on`"), "{said}");
        assert_eq!(outer.run(async { 1 }), 1);
    });
}

/// A task drops its own runtime: waits for the runtime end with an error, and its other tasks are cancelled.
/// Shows G8.
#[test]
fn a_runtime_is_dropped_inside_its_own_task() {
    shared(|| {
        let dropped = Arc::new(AtomicU64::new(0));
        for workers in [1, 2] {
            let own = runtime(workers);
            let handle = own.handle().clone();
            let counted = Counted(Arc::clone(&dropped));
            drop(own.spawn_unique(keep(counted, pending::<()>())));
            let task = handle.spawn_colored(RED, async move {
                drop(own);
                // This poll goes on to its end.
                7
            });
            assert_eq!(runtime(1).block_on(task).unwrap(), 7);
            let late = runtime(1).block_on(handle.spawn(async {}));
            assert!(late.unwrap_err().is_cancelled());
        }
        wait_until(|| count(&dropped) == 2);
    });
}

/// The same inside its `block_on`, in its blocking call, and in its stage, which has yet to handle events.
#[test]
fn a_runtime_is_dropped_wherever_it_runs_something() {
    shared(|| {
        let own = runtime(2);
        let handle = own.handle().clone();
        let guest = AssertUnwindSafe(|| {
            handle.block_on(async move {
                drop(own);
                spawn_unique(async {}).await.unwrap_err().is_cancelled()
            })
        });
        match std::panic::catch_unwind(guest) {
            Ok(cancelled) => assert!(cancelled),
            Err(payload) => {
                let said = message(&*payload);
                assert!(said.contains("shut down while `block_on` waited"), "{said}");
            }
        }
        let own = runtime(2);
        let handle = own.handle().clone();
        let call = handle.spawn_blocking(move || drop(own));
        runtime(1).block_on(call).unwrap();
        let own = runtime(2);
        let entered = own.handle().enter();
        let stage = Builder::new().build(each(drop::<Option<Runtime>>));
        drop(entered);
        for event in [Some(own), None, None] {
            // Events after the drop may be given back.
            let _accepted = stage.try_send(event);
        }
        runtime(1).block_on(stage.drained());
        let metrics = stage.metrics();
        assert_eq!((metrics.accepted + metrics.refused, metrics.depth()), (3, 0), "{metrics:?}");
    });
}

/// A task of one runtime owns a second runtime, whose task owns a third: the end of the first ends all.
#[test]
fn runtimes_that_own_each_other_in_a_row_end_together() {
    shared(|| {
        let dropped = Arc::new(AtomicU64::new(0));
        let mut inner: Option<Runtime> = None;
        for _ in 0..4 {
            let (outer, counted) = (runtime(1), Counted(Arc::clone(&dropped)));
            let owned = (inner.take(), counted);
            drop(outer.spawn_colored(RED, keep(owned, pending::<()>())));
            inner = Some(outer);
        }
        drop(inner);
        assert_eq!(count(&dropped), 4);
    });
}

/// Threads that make, use and drop runtimes while others do.
#[test]
fn runtimes_come_and_go_beside_each_other() {
    shared(|| {
        let outer = runtime(2);
        thread::scope(|scope| {
            for thread in 0..4_u64 {
                let outer = &outer;
                scope.spawn(move || {
                    for round in 0..10 {
                        let inner = runtime(1);
                        let task = outer.spawn_colored(thread, async move {
                            colored::time::sleep(Duration::from_micros(50)).await;
                            round
                        });
                        assert_eq!(inner.run(async move { task.await.unwrap() }), round);
                        if round % 2 == 0 {
                            let end = outer.spawn_unique(async move { drop(inner) });
                            outer.handle().block_on(end).unwrap();
                        }
                    }
                });
            }
        });
    });
}
