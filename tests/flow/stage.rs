//! Stages: bounded queues, batches, partitions, and graphs that end in order.

use colored::stage::{Batch, Builder, Events, Graph, Stage, TrySendError, each};
use colored::sync::Notify;
use colored::{Color, ColorCell, spawn_unique, yield_now};
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::witness::Witness;
use colored_tests::{Trace, join_all, panic_of, run, runtime, shared};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, OnceLock};
use std::task::Poll;

const RED: Color = Color::new(1);

#[test]
fn a_serial_stage_is_serial_also_while_its_handler_waits() {
    run(4, async {
        let (trace, inside) = (Trace::new(), Arc::new(Witness::default()));
        let overlap = Arc::new(AtomicUsize::new(0));
        let (seen, witness) = (trace.clone(), Arc::clone(&inside));
        let handler = move |events: Events<u32>| {
            let (seen, witness, overlap) =
                (seen.clone(), Arc::clone(&witness), Arc::clone(&overlap));
            async move {
                assert_eq!(overlap.fetch_add(1, Ordering::Relaxed), 0, "two batches at once");
                for event in events {
                    witness.touch();
                    yield_now().await;
                    seen.push(event);
                }
                overlap.fetch_sub(1, Ordering::Relaxed);
            }
        };
        let stage = Builder::new().capacity(16).batch(Batch::Fixed(8)).build(handler);
        for event in 0..10_000 {
            stage.send(event).await.unwrap();
        }
        stage.close();
        stage.drained().await;
        assert_eq!(trace.take(), (0..10_000).collect::<Vec<_>>());
        assert_eq!(inside.count(), 10_000);
        let metrics = stage.metrics();
        assert_eq!((metrics.handled, metrics.lost, metrics.panics), (10_000, 0, 0));
        assert!(metrics.mean_batch() > 1.0 && metrics.batch_limit == 8, "{metrics:?}");
    });
}

#[test]
fn a_parallel_stage_handles_as_many_batches_at_once_as_it_has_partitions() {
    run(4, async {
        let barrier = Arc::new(Barrier::new(4));
        let meets = Arc::clone(&barrier);
        // No handler goes on before all four are inside, each on a worker of its own.
        let stage = Builder::new().parallel(4, |event: &u32| *event).batch(Batch::Fixed(1)).build(
            each(move |_event: u32| {
                meets.wait();
            }),
        );
        // Keys are spread by a hash: these are one of each partition, four times.
        let (mut keys, mut seen) = (Vec::new(), [false; 4]);
        for key in 0.. {
            let partition = partition_of(key, 4);
            if !std::mem::replace(&mut seen[partition], true) {
                keys.push(key);
            }
            if keys.len() == 4 {
                break;
            }
        }
        for _ in 0..4 {
            for key in &keys {
                stage.send(*key).await.unwrap();
            }
        }
        stage.close();
        stage.drained().await;
        assert_eq!(stage.metrics().handled, 16);
    });
}

/// The partition of a key, seen from outside: the one whose handler gets it.
fn partition_of(key: u32, partitions: usize) -> usize {
    let (sent, came) = std::sync::mpsc::channel();
    let stage = Builder::new().parallel(partitions, |key: &u32| *key).build_with(|number| {
        let sent = sent.clone();
        each(move |_| sent.send(number).expect("the test waits"))
    });
    stage.try_send(key).unwrap();
    came.recv().unwrap()
}

/// Shows G2.
#[test]
fn events_of_one_key_keep_their_order() {
    run(4, async {
        let last = Arc::new(std::sync::Mutex::new(vec![0; 100]));
        let check = Arc::clone(&last);
        let stage = Builder::new()
            .capacity(64)
            .parallel(8, |(key, _): &(usize, u32)| *key)
            .batch(Batch::Adaptive { max: 32 })
            .build(each(move |(key, number): (usize, u32)| {
                let before = std::mem::replace(&mut check.lock().unwrap()[key], number);
                assert_eq!(before + 1, number, "key {key}");
            }));
        join_all((0..10).map(|sender| {
            let stage = stage.clone();
            spawn_unique(async move {
                for number in 1..=200 {
                    for key in (sender * 10)..(sender * 10 + 10) {
                        stage.send((key, number)).await.unwrap();
                    }
                }
            })
        }))
        .await;
        stage.close();
        stage.drained().await;
        let metrics = stage.metrics();
        assert_eq!((metrics.handled, metrics.panics), (20_000, 0));
        assert!(last.lock().unwrap().iter().all(|last| *last == 200));
    });
}

/// Shows G2.
#[test]
fn no_more_is_queued_than_the_capacity_and_the_rest_waits_in_line() {
    shared(|| {
        let runtime = runtime(2);
        let _entered = runtime.handle().enter();
        let gate = Gate::close(runtime.handle(), RED);
        let trace = Trace::new();
        let seen = trace.clone();
        let stage = Builder::new().capacity(10).color(RED).batch(Batch::Fixed(4)).build(
            move |events: Events<u32>| {
                seen.push(events.collect::<Vec<_>>());
                async {}
            },
        );
        for event in 0..10 {
            stage.try_send(event).unwrap();
        }
        assert_eq!(stage.try_send(10), Err(TrySendError::Full(10)));
        let mut first = Box::pin(stage.send(10));
        let mut gone = Box::pin(stage.send(11));
        let mut second = Box::pin(stage.send(12));
        for waiter in [&mut first, &mut gone, &mut second] {
            assert!(poll_once(waiter.as_mut()).is_pending());
        }
        drop(gone);
        assert_eq!((stage.depth(), stage.metrics().senders), (10, 2));
        gate.open();
        runtime.block_on(async {
            assert_eq!(first.await, Ok(()));
            assert_eq!(second.await, Ok(()));
            stage.close();
            stage.drained().await;
        });
        let batches = trace.take();
        assert_eq!(batches.concat(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]);
        assert_eq!(batches[0], [0, 1, 2, 3], "as many as a batch has");
        assert!(batches.iter().all(|batch| batch.len() <= 4));
        assert_eq!(stage.metrics().batches, batches.len() as u64);
    });
}

/// Room that was given to a dropped waiter goes to the next waiter.
#[test]
fn a_sender_that_goes_away_gives_its_room_on() {
    run(2, async {
        let gate = Arc::new(Notify::new());
        let opened = Arc::clone(&gate);
        let stage =
            Builder::new().capacity(1).batch(Batch::Fixed(1)).build(move |events: Events<u32>| {
                let opened = Arc::clone(&opened);
                async move {
                    opened.notified().await;
                    drop(events);
                }
            });
        stage.send(0).await.unwrap();
        while stage.metrics().batches == 0 {
            yield_now().await;
        }
        stage.send(1).await.unwrap();
        let (mut called, mut next) = (Box::pin(stage.send(2)), Box::pin(stage.send(3)));
        assert!(poll_once(called.as_mut()).is_pending());
        assert!(poll_once(next.as_mut()).is_pending());
        gate.notify_one();
        while stage.metrics().senders == 2 {
            yield_now().await;
        }
        assert_eq!(stage.try_send(4), Err(TrySendError::Full(4)), "the room is reserved");
        drop(called);
        assert_eq!(poll_once(next.as_mut()), Poll::Ready(Ok(())));
        stage.close();
        for _ in 0..2 {
            gate.notify_one();
            yield_now().await;
            while stage.depth() > 1 {
                yield_now().await;
            }
        }
        gate.notify_one();
        stage.drained().await;
        assert_eq!(stage.metrics().handled, 3);
    });
}

#[test]
fn a_stage_that_sends_to_itself_does_not_wait() {
    for partitions in [1, 3] {
        run(2, async move {
            // Each event of generation n makes two of n - 1, with room for one.
            let own: Arc<OnceLock<Stage<u32>>> = Arc::default();
            let again = Arc::clone(&own);
            let stage = Builder::new()
                .capacity(1)
                .parallel(partitions, |event: &u32| *event)
                .build(move |events: Events<u32>| {
                    let again = Arc::clone(&again);
                    async move {
                        let stage = again.get().expect("set before the first event");
                        for event in events.filter(|event| *event > 0) {
                            stage.send(event - 1).await.unwrap();
                            yield_now().await;
                            stage.try_send(event - 1).unwrap();
                        }
                    }
                });
            own.set(stage.clone()).unwrap();
            stage.send(10).await.unwrap();
            while stage.depth() > 0 {
                yield_now().await;
            }
            assert_eq!(stage.metrics().handled, (1 << 11) - 1, "{partitions} partitions");
            stage.close();
            stage.drained().await;
        });
    }
}

#[test]
fn the_color_named_is_the_handlers() {
    run(2, async {
        let cell = ColorCell::new(RED, 0);
        let own = cell.clone();
        let stage = Builder::new()
            .color(RED)
            .parallel(4, |event: &u32| *event)
            .build(each(move |event: u32| own.with(|sum| *sum += event)));
        for event in 1..=100 {
            stage.send(event).await.unwrap();
        }
        stage.close();
        stage.drained().await;
        assert_eq!(cell.call(|sum| *sum).await, 5_050);
    });
}

#[test]
fn a_graph_drains_in_order_and_everything_is_handled() {
    run(4, async {
        for round in 0..20 {
            let mut graph = Graph::new();
            let sum = Arc::new(AtomicUsize::new(0));
            let total = Arc::clone(&sum);
            let add = each(move |n: usize| {
                total.fetch_add(n, Ordering::Relaxed);
            });
            let last = graph.add("sum", Builder::new().capacity(3).build(add));
            let mut next = last;
            for (step, name) in ["c", "b", "a"].into_iter().enumerate() {
                let to = next.clone();
                let pass = move |events: Events<usize>| {
                    let to = to.clone();
                    async move {
                        for event in events {
                            to.send(event + 1).await.expect("it is closed later");
                        }
                    }
                };
                let builder = Builder::new().capacity(5).parallel(step + 1, |n: &usize| *n);
                let batch =
                    if round % 2 == 0 { Batch::Fixed(4) } else { Batch::Adaptive { max: 8 } };
                next = graph.add(name, builder.batch(batch).build(pass));
            }
            for n in 0..500 {
                next.send(n).await.unwrap();
            }
            let done = graph.drain().await;
            let names: Vec<_> = done.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["sum", "c", "b", "a"]);
            for (name, metrics) in &done {
                let counts = (metrics.accepted, metrics.handled, metrics.depth());
                assert_eq!(counts, (500, 500, 0), "{name}");
            }
            assert_eq!(sum.load(Ordering::Relaxed), 500 * 499 / 2 + 3 * 500);
            assert!(next.is_closed());
        }
    });
}

#[test]
fn parallel_by_reaches_each_partition_and_names_a_wrong_number() {
    run(4, async {
        const SHARDS: usize = 4;
        let traces: Vec<_> = (0..SHARDS).map(|_| Trace::new()).collect();
        let of = traces.clone();
        let line = line!() + 2;
        let stage =
            Builder::new().parallel_by(SHARDS, |event: &usize| *event % 10).build_with(|shard| {
                let trace = of[shard].clone();
                each(move |event| trace.push(event))
            });
        for round in 0..10 {
            for shard in 0..SHARDS {
                stage.send(10 * round + shard).await.unwrap();
            }
            // Neither event is accepted, and nothing is stuck afterwards.
            for said in [panic_of(|| stage.try_send(14)), panic_of(|| stage.send(14))] {
                assert!(said.contains("partition 4") && said.contains("4 partitions"), "{said}");
                let site = format!("{}:{line}:", file!());
                assert!(said.contains(&site) && said.contains("`usize`"), "{site}: {said}");
            }
        }
        stage.close();
        stage.drained().await;
        let metrics = stage.metrics();
        assert_eq!((metrics.accepted, metrics.handled, metrics.lost), (40, 40, 0));
        for (shard, trace) in traces.iter().enumerate() {
            assert_eq!(trace.take(), (0..10).map(|round| 10 * round + shard).collect::<Vec<_>>());
        }
        // Also with one partition only.
        let one = Builder::new().parallel_by(1, |event: &usize| *event).build(each(|_| ()));
        one.try_send(0).unwrap();
        let said = panic_of(|| one.try_send(1));
        assert!(said.contains("partition 1"), "{said}");
    });
}

#[test]
fn mistakes_are_named() {
    let nothing = || each(|_: u32| ());
    let outside = panic_of(|| Builder::new().build(nothing()));
    assert!(outside.contains("outside a runtime"), "{outside}");
    run(1, async move {
        let parallel = panic_of(|| Builder::new().parallel(0, |n: &u32| *n).build(nothing()));
        assert!(parallel.contains("0 partitions") && parallel.contains("1 to 65536"), "{parallel}");
        let capacity = panic_of(|| Builder::new().capacity(0).build(nothing()));
        assert!(capacity.contains("capacity 0"), "{capacity}");
        for batch in [Batch::Fixed(0), Batch::Adaptive { max: 0 }] {
            let said = panic_of(|| Builder::new().batch(batch).build(nothing()));
            assert!(said.contains("batches of 0"), "{said}");
        }
    });
}
