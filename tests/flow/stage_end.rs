//! Stages at the end of their runtime are drained in order, within the given time, and every event is accounted for.

use colored::stage::{Batch, Builder, Closed, Events, Graph, Metrics, Stage, TrySendError, each};
use colored::time::sleep;
use colored::{Color, Runtime, yield_now};
use colored_tests::attempts::within;
use colored_tests::gate::Gate;
use colored_tests::{ON_PURPOSE, alone, run, runtime, shared, wait_until};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

/// Three stages, each of which waits for a while with every event, and sends it on. The first is
/// given 100.
fn pipeline(runtime: &Runtime) -> Vec<Stage<u32>> {
    let _entered = runtime.handle().enter();
    let last = Builder::new().capacity(200).parallel(2, |event: &u32| *event);
    let mut stages = vec![last.build(|events: Events<u32>| async move {
        for _ in events {
            yield_now().await;
        }
    })];
    for _ in 0..2 {
        let next = stages[stages.len() - 1].clone();
        let pass = move |events: Events<u32>| {
            let next = next.clone();
            async move {
                for event in events {
                    sleep(Duration::from_micros(10)).await;
                    next.send(event).await.expect("it is closed later");
                }
            }
        };
        stages.push(Builder::new().capacity(200).batch(Batch::Fixed(8)).build(pass));
    }
    for event in 0..100 {
        stages[2].try_send(event).unwrap();
    }
    stages
}

/// A stage that never handles its events: one event is in a batch, another waits.
fn stuck(runtime: &Runtime) -> Stage<u32> {
    let _entered = runtime.handle().enter();
    let never = |events: Events<u32>| async move {
        let _events = events;
        std::future::pending::<()>().await;
    };
    let stage = Builder::new().capacity(1).batch(Batch::Fixed(1)).build(never);
    stage.try_send(1).unwrap();
    wait_until(|| stage.metrics().batches == 1);
    stage.try_send(2).unwrap();
    stage
}

fn counts(metrics: Metrics) -> (u64, u64, u64, u64) {
    (metrics.accepted, metrics.handled, metrics.lost, metrics.depth())
}

#[test]
fn a_runtime_that_ends_drains_its_stages_first() {
    let ends: [fn(Runtime); 3] = [
        drop,
        |runtime| runtime.shutdown_timeout(LONG).unwrap(),
        |runtime| {
            let _entered = runtime.handle().enter();
            runtime.shutdown_timeout(Duration::MAX).unwrap();
        },
    ];
    shared(|| {
        for end in ends {
            for workers in [1, 3] {
                let runtime = runtime(workers);
                let stages = pipeline(&runtime);
                end(runtime);
                for stage in stages {
                    let metrics = stage.metrics();
                    assert_eq!(counts(metrics), (100, 100, 0, 0));
                    assert_eq!((metrics.refused, metrics.panics), (0, 0));
                    assert_eq!(stage.try_send(1), Err(TrySendError::Closed(1)));
                    assert_eq!(stage.metrics().refused, 1);
                }
            }
        }
    });
}

/// No task has a handle any more when the main future ends.
#[test]
fn the_end_of_main_drains_the_stages_that_are_left() {
    let handled = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&handled);
    run(2, async move {
        let stage = Builder::new().build(move |events: Events<u32>| {
            let count = Arc::clone(&count);
            async move {
                sleep(Duration::from_micros(500)).await;
                count.fetch_add(events.len() as u64, Ordering::Relaxed);
            }
        });
        for event in 0..1_000 {
            stage.try_send(event).unwrap();
        }
    });
    assert_eq!(handled.load(Ordering::Relaxed), 1_000);
}

#[test]
fn events_left_after_the_timeout_are_lost_and_counted() {
    // Long enough for the stage that is drained before the stuck one.
    const TIMEOUT: Duration = Duration::from_millis(300);
    alone(|| {
        within(TIMEOUT + Duration::from_millis(30), || {
            let (home, other) = (runtime(1), runtime(1));
            let receiver = stuck(&home);
            let entered = home.handle().enter();
            // Built later, drained earlier.
            let sender = Builder::new().build(each(|_: u32| ()));
            drop(entered);
            (0..5).for_each(|event| sender.try_send(event).unwrap());
            let waits = other.handle().spawn({
                let receiver = receiver.clone();
                async move { receiver.send(3).await }
            });
            wait_until(|| receiver.metrics().senders == 1);
            let begin = std::time::Instant::now();
            let error = home.shutdown_timeout(TIMEOUT).unwrap_err();
            let took = begin.elapsed();
            assert_eq!((error.events, error.timeout), (2, TIMEOUT));
            assert!(error.to_string().contains("2 events that stages have accepted"), "{error}");
            assert_eq!(counts(sender.metrics()), (5, 5, 0, 0));
            assert_eq!(other.block_on(waits).unwrap(), Err(Closed(3)));
            other.block_on(receiver.drained());
            let metrics = receiver.metrics();
            assert_eq!(counts(metrics), (2, 0, 2, 0));
            assert_eq!((metrics.batches, metrics.taken, metrics.refused), (1, 1, 1));
            // The remaining events were in no batch.
            assert!((metrics.mean_batch() - 1.0).abs() < f64::EPSILON);
            took
        });
    });
}

#[test]
fn an_end_that_must_not_wait_does_not() {
    let ends: [fn(Runtime); 4] = [
        Runtime::shutdown_background,
        |runtime| {
            let error = runtime.shutdown_timeout(Duration::ZERO).unwrap_err();
            assert_eq!(error.events, 2);
        },
        |runtime| {
            let ends = || {
                let _runtime = runtime;
                panic!("{ON_PURPOSE}");
            };
            assert!(catch_unwind(AssertUnwindSafe(ends)).is_err());
        },
        |runtime| run_elsewhere(move || drop(runtime)),
    ];
    shared(|| {
        for end in ends {
            let home = runtime(2);
            let stage = stuck(&home);
            end(home);
            runtime(1).block_on(stage.drained());
            assert_eq!(counts(stage.metrics()), (2, 0, 2, 0));
        }
    });
}

/// A batch that has been taken waits once for its turn behind the color's other work. The runtime ends meanwhile.
#[test]
fn a_batch_that_waits_for_its_turn_is_counted_when_the_runtime_ends() {
    shared(|| {
        let home = runtime(1);
        let color = Color::new(7);
        let before = Gate::close(home.handle(), color);
        let entered = home.handle().enter();
        let stage = Builder::new()
            .color(color)
            .batch(Batch::Fixed(2))
            .build(|_: Events<u32>| async { unreachable!("it is cancelled before its turn") });
        drop(entered);
        (0..3).for_each(|event| stage.try_send(event).unwrap());
        // Its turn comes after the batch is taken, and before the batch is handled.
        let (begun, begins) = mpsc::channel();
        let (open, opened) = mpsc::channel::<()>();
        let between = home.spawn_colored(color, async move {
            begun.send(()).unwrap();
            opened.recv().unwrap();
        });
        before.open();
        begins.recv().unwrap();
        assert_eq!((stage.metrics().batches, stage.metrics().taken), (1, 2));
        home.shutdown_background();
        open.send(()).unwrap();
        drop(between);
        runtime(1).block_on(stage.drained());
        assert_eq!(counts(stage.metrics()), (3, 0, 3, 0));
    });
}

/// In a task of another runtime.
fn run_elsewhere(f: impl FnOnce() + Send + 'static) {
    runtime(1).run(async move { f() });
}

#[test]
fn a_drained_graph_leaves_nothing_to_drain() {
    shared(|| {
        let runtime = runtime(2);
        let stages = pipeline(&runtime);
        let mut graph = Graph::new();
        for (stage, name) in stages.iter().zip(["c", "b", "a"]) {
            graph.add(name, stage.clone());
        }
        let done = runtime.block_on(graph.drain());
        assert!(done.iter().all(|(_, metrics)| counts(*metrics) == (100, 100, 0, 0)), "{done:?}");
        runtime.shutdown_timeout(LONG).unwrap();
    });
}

/// Where the order of a graph is wrong, the senders get events back, and the graph counts them.
#[test]
fn a_graph_in_the_wrong_order_refuses_and_says_so() {
    run(2, async {
        let given_back = Arc::new(AtomicU64::new(0));
        let last = Builder::new().build(each(|_: u32| ()));
        let (next, count) = (last.clone(), Arc::clone(&given_back));
        let first = Builder::new().batch(Batch::Fixed(1)).build(move |events: Events<u32>| {
            let (next, count) = (next.clone(), Arc::clone(&count));
            async move {
                for event in events {
                    if let Err(Closed(event)) = next.send(event).await {
                        assert_eq!(event, 7);
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        let mut graph = Graph::new();
        let first = graph.add("first", first);
        graph.add("last", last);
        (0..10).for_each(|_| first.try_send(7).unwrap());
        let done = graph.drain().await;
        let (first, last) = (done[0].1, done[1].1);
        let back = given_back.load(Ordering::Relaxed);
        assert_eq!((first.handled, first.lost, first.refused), (10, 0, 0));
        assert_eq!((last.accepted + back, last.refused, last.lost), (10, back, 0));
    });
}

/// A stage that a handler builds while its own stage drains is drained as well.
#[test]
fn stages_that_are_built_while_others_drain_are_drained_too() {
    shared(|| {
        let runtime = runtime(2);
        let handled = Arc::new(AtomicU64::new(0));
        let entered = runtime.handle().enter();
        let count = Arc::clone(&handled);
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = Arc::clone(&closed);
        let outer = Builder::new().batch(Batch::Fixed(1)).build(each(move |event: u64| {
            // A stage that is built before the end begins would be closed first.
            wait_until(|| is_closed.load(Ordering::Relaxed));
            let count = Arc::clone(&count);
            let slow = move |events: Events<u64>| {
                let count = Arc::clone(&count);
                async move {
                    for event in events {
                        sleep(Duration::from_millis(1)).await;
                        count.fetch_add(event, Ordering::Relaxed);
                    }
                }
            };
            Builder::new().build(slow).try_send(event).unwrap();
        }));
        drop(entered);
        (1..=20).for_each(|event| outer.try_send(event).unwrap());
        let watch = thread::spawn(move || {
            while !matches!(outer.try_send(0), Err(TrySendError::Closed(_))) {
                thread::yield_now();
            }
            closed.store(true, Ordering::Relaxed);
        });
        drop(runtime);
        watch.join().unwrap();
        assert_eq!(handled.load(Ordering::Relaxed), 20 * 21 / 2);
    });
}
