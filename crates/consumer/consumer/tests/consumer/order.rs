//! Which records are handled in their order, and which at the same time.

use crate::support::{
    Effects, Scratch, engine, key, metrics_when, millis, number, partition, send, until,
};
use colored::time::sleep;
use colored_consumer::{Consumer, Order, color_of};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[colored::test]
async fn records_of_a_key_are_in_order_and_keys_are_parallel() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 3).await;
    send(&engine, 20, 0, 50).await;
    let (effects, most) = (Effects::default(), Arc::new(AtomicUsize::new(0)));
    let (seen, at_once) = (effects.clone(), Arc::clone(&most));
    let now = Arc::new(AtomicUsize::new(0));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let consumer = Consumer::builder(member).strict(true).start(move |record, context| {
        let (seen, at_once, now) = (seen.clone(), Arc::clone(&at_once), Arc::clone(&now));
        async move {
            // Ordering: counts of a test.
            at_once.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            if number(&record).is_multiple_of(7) {
                sleep(millis(1)).await;
            }
            seen.add(&record, context.generation());
            now.fetch_sub(1, Ordering::Relaxed);
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    effects.wait_for(1000).await;
    let metrics = consumer.metrics().await;
    assert_eq!((metrics.violations, metrics.polled), (0, 1000));
    consumer.stop().await.unwrap();
    effects.assert_once_and_in_order(20, 50);
    // Ordering: all handlers have ended.
    assert!((5..=20).contains(&most.load(Ordering::Relaxed)), "{most:?}");
}

#[colored::test]
async fn a_handler_runs_under_the_color_of_its_key_across_awaits() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 3, 0, 30).await;
    let counts: Arc<Mutex<BTreeMap<String, colored::ColorCell<u64>>>> = Arc::default();
    let (effects, cells) = (Effects::default(), Arc::clone(&counts));
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let consumer = Consumer::builder(member).strict(true).start(move |record, context| {
        let (seen, cells) = (seen.clone(), Arc::clone(&cells));
        async move {
            assert_eq!(context.color(), color_of("t", 0, record.key.as_ref().unwrap()));
            let cell = cells
                .lock()
                .unwrap()
                .entry(key(&record))
                .or_insert_with(|| colored::ColorCell::new(context.color(), 0))
                .clone();
            // The state of the key needs no lock.
            assert_eq!(cell.with(|count| *count), number(&record));
            colored::yield_now().await;
            cell.with(|count| *count += 1);
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    effects.wait_for(90).await;
    consumer.unwrap().stop().await.unwrap();
    effects.assert_once_and_in_order(3, 30);
}

/// A key that waits does not delay the others.
#[colored::test]
async fn a_slow_key_delays_itself_only() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 10, 0, 100).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).drain(millis(1));
    let consumer = builder.start(move |record, context| {
        let seen = seen.clone();
        async move {
            if key(&record) == "k3" {
                std::future::pending::<()>().await;
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    effects.wait_for(900).await;
    let consumer = consumer.unwrap();
    let metrics = metrics_when(&consumer, |metrics| metrics.in_flight <= 100).await;
    let first = metrics.partitions[0].first.clone().unwrap();
    assert_eq!((first.key.as_str(), first.offset), ("key \"k3\"", 3));
    assert_eq!(first.waits_for, "its handler");
    assert_eq!(metrics.in_flight, 100);
    consumer.stop().await.unwrap();
    assert!(effects.by_key().values().all(|numbers| numbers.len() == 100));
}

#[colored::test]
async fn a_partition_may_be_the_order_and_none_may_be() {
    for (order, parallel) in [(Order::Partition, 1), (Order::None, 40)] {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 1).await;
        send(&engine, 4, 0, 10).await;
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (at_once, effects) = (Arc::clone(&most), Effects::default());
        let seen = effects.clone();
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).order(order);
        let consumer = builder.start(move |record, context| {
            let (seen, at_once, now) = (seen.clone(), Arc::clone(&at_once), Arc::clone(&now));
            async move {
                // Ordering: counts of a test.
                at_once.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                // All of them come together where they may.
                until("the others", || {
                    now.load(Ordering::Relaxed) >= parallel
                        || at_once.load(Ordering::Relaxed) >= parallel
                })
                .await;
                seen.add(&record, context.generation());
                now.fetch_sub(1, Ordering::Relaxed);
                Ok(())
            }
        });
        effects.wait_for(40).await;
        consumer.unwrap().stop().await.unwrap();
        // Ordering: all handlers have ended.
        assert_eq!(most.load(Ordering::Relaxed), parallel);
        if order == Order::Partition {
            let offsets: Vec<_> = effects.all().iter().map(|effect| effect.offset).collect();
            assert_eq!(offsets, (0..40).collect::<Vec<_>>());
        }
    }
}

#[colored::test]
async fn the_key_may_come_from_the_value_and_be_missing() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 40).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    // Even numbers have one key, odd ones have none.
    let builder = Consumer::builder(member)
        .strict(true)
        .key(|record| number(record).is_multiple_of(2).then(|| "even".into()));
    let consumer = builder.start(move |record, context| {
        let seen = seen.clone();
        async move {
            if number(&record) == 0 {
                let seen = seen.clone();
                until("the odd ones", move || seen.count() == 20).await;
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    effects.wait_for(40).await;
    consumer.unwrap().stop().await.unwrap();
    let even: Vec<_> =
        effects.all().iter().map(|effect| effect.number).filter(|n| n % 2 == 0).collect();
    assert_eq!(even, (0..20).map(|n| 2 * n).collect::<Vec<_>>());
}

/// What a key function waits for, in its thread: until it is opened, and for 20 s at most.
#[derive(Default)]
struct Gate {
    is_waited_for: AtomicBool,
    is_open: AtomicBool,
}

// Ordering: Relaxed, nothing goes by these.
impl Gate {
    fn wait(&self) {
        self.is_waited_for.store(true, Ordering::Relaxed);
        let start = std::time::Instant::now();
        while !self.is_open() && start.elapsed().as_secs() < 20 {
            std::thread::sleep(millis(1));
        }
        self.open();
    }

    fn is_waited_for(&self) -> bool {
        self.is_waited_for.load(Ordering::Relaxed)
    }

    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }
}

/// A consumer reads, handles and commits the records of the other partitions while it is busy with those of one.
#[test]
fn a_busy_partition_holds_no_other_one_up() {
    let runtime = colored::Builder::new().workers(4).build().unwrap();
    runtime.block_on(async {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 4).await;
        send(&engine, 40, 0, 1).await;
        let (effects, gate) = (Effects::default(), Arc::new(Gate::default()));
        let (seen, waits) = (effects.clone(), Arc::clone(&gate));
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).key(move |record| {
            if record.partition == 0 {
                waits.wait();
            }
            record.key.clone()
        });
        let consumer = builder.start(move |record, context| {
            let seen = seen.clone();
            async move {
                seen.add(&record, context.generation());
                Ok(())
            }
        });
        until("the busy one", || gate.is_waited_for()).await;
        send(&engine, 40, 1, 5).await;
        let (_, busy) = engine.range(&partition(0)).await.unwrap();
        effects.wait_for(200 - busy as usize).await;
        for other in 1..4 {
            let (_, end) = engine.range(&partition(other)).await.unwrap();
            let committed = async || engine.committed("g", &partition(other)).await;
            while committed().await.is_none_or(|of| of.offset < end) && !gate.is_open() {
                sleep(millis(2)).await;
            }
        }
        assert!(!gate.is_open(), "the others do not go on");
        gate.open();
        effects.wait_for(200).await;
        consumer.unwrap().stop().await.unwrap();
        effects.assert_once_and_in_order(40, 5);
    });
}

#[colored::test]
async fn a_batch_has_records_of_one_key_in_order() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 5, 0, 103).await;
    let (effects, sizes) = (Effects::default(), Arc::new(Mutex::new(Vec::new())));
    let (seen, lengths) = (effects.clone(), Arc::clone(&sizes));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true);
    let consumer = builder.start_batches(10, millis(20), move |records, context| {
        let (seen, lengths) = (seen.clone(), Arc::clone(&lengths));
        async move {
            assert!(records.iter().all(|record| record.key == records[0].key));
            lengths.lock().unwrap().push(records.len());
            sleep(millis(1)).await;
            records.iter().for_each(|record| seen.add(record, context.generation()));
            Ok(())
        }
    });
    effects.wait_for(515).await;
    consumer.unwrap().stop().await.unwrap();
    effects.assert_once_and_in_order(5, 103);
    let sizes = sizes.lock().unwrap();
    assert!(sizes.iter().all(|size| *size <= 10));
    assert!(sizes.iter().filter(|size| **size == 10).count() >= 40, "{sizes:?}");
}

/// A partition whose turn takes long gets no more handlers meanwhile than it had: the others go on.
#[test]
fn a_busy_partition_hoards_no_handlers() {
    let runtime = colored::Builder::new().workers(4).build().unwrap();
    runtime.block_on(async {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 4).await;
        send(&engine, 40, 0, 50).await;
        let (effects, gate) = (Effects::default(), Arc::new(Gate::default()));
        let (seen, waits) = (effects.clone(), Arc::clone(&gate));
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).concurrency(4).key(move |record| {
            if record.partition == 0 && number(record) >= 50 {
                waits.wait();
            }
            record.key.clone()
        });
        let consumer = builder.start(move |record, context| {
            let seen = seen.clone();
            async move {
                sleep(millis(1)).await;
                seen.add(&record, context.generation());
                Ok(())
            }
        });
        // Now its lanes are in line.
        effects.wait_for(20).await;
        send(&engine, 40, 50, 60).await;
        until("the busy one", || gate.is_waited_for()).await;
        let (_, busy) = engine.range(&partition(0)).await.unwrap();
        let others = || effects.all().iter().filter(|effect| effect.partition != 0).count();
        until("the others", || others() == 2_400 - busy as usize || gate.is_open()).await;
        assert!(!gate.is_open(), "the others do not go on");
        gate.open();
        effects.wait_for(2_400).await;
        consumer.unwrap().stop().await.unwrap();
        effects.assert_once_and_in_order(40, 60);
    });
}
