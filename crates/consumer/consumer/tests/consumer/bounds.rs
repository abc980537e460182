//! What is read and not done stays within its bounds, while polling goes on.

use crate::frozen::{Frail, Trouble};
use crate::support::{Effects, Scratch, engine, metrics_when, millis, send, start_gated, until};
use colored::sync::Semaphore;
use colored::time::sleep;
use colored_consumer::embedded::NewRecord;
use colored_consumer::{Consumer, Metrics};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Nothing is handled: the consumer reads up to its bound, and stays a member for many times its session.
#[colored::test]
async fn intake_stops_at_the_bound_and_polling_goes_on() {
    for (records, of_partition, bytes) in
        [(100, 1000, 1 << 20), (1000, 50, 1 << 20), (1000, 1000, 20_000)]
    {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 2).await;
        send(&engine, 40, 0, 50).await;
        let (trouble, gate) = (Trouble::default(), Arc::new(Semaphore::new(0)));
        let (begun, effects) = (Effects::default(), Effects::default());
        let member = engine.member("g", ["t"]).session(millis(500)).join().await.unwrap();
        let builder = Consumer::builder(Frail { member, trouble: trouble.clone() })
            .records(records)
            .partition_records(of_partition)
            .bytes(bytes);
        let consumer = start_gated(builder, &begun, &gate, &effects);
        // Ordering: a count of a test.
        until("records", || trouble.polled.load(Ordering::Relaxed) >= 40).await;
        let generations = |metrics: &Metrics| {
            metrics.partitions.iter().map(|of| of.generation).collect::<Vec<_>>()
        };
        let before = generations(&consumer.metrics().await);
        sleep(millis(1_300)).await;
        let metrics = consumer.metrics().await;
        assert!(metrics.in_flight <= records.min(2 * of_partition), "{metrics:?}");
        assert!(metrics.in_flight_bytes <= bytes + 1_000, "{metrics:?}");
        assert_eq!(metrics.polled as usize, metrics.in_flight);
        assert_eq!(generations(&metrics), before, "it was never taken for dead");
        gate.add_permits(10_000);
        effects.wait_for(2_000).await;
        let none_is_paused = |of: &Metrics| of.partitions.iter().all(|of| !of.is_paused);
        metrics_when(&consumer, |of| of.in_flight == 0 && none_is_paused(of)).await;
        consumer.stop().await.unwrap();
        effects.assert_once_and_in_order(40, 50);
    }
}

/// A slow key has a backlog in its partition that would fill every bound: of records, or of bytes. The other partitions go
/// on as if it were not there.
#[colored::test]
async fn the_backlog_of_one_partition_delays_no_other() {
    for (records, bytes) in [(200, 1 << 20), (100_000, 40_000)] {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 4).await;
        let fill = async |partition, key: &'static str, count: u64| {
            let record = |number: u64| {
                let mut record = NewRecord::new(key, number.to_string());
                record.headers = vec![("padding".into(), Some(vec![0; 100].into()))];
                engine.send_to("t", partition, record)
            };
            for number in 0..count {
                record(number).await.unwrap();
            }
        };
        fill(0, "slow", 1_000).await;
        let (effects, gate) = (Effects::default(), Arc::new(Semaphore::new(0)));
        let (seen, entered) = (effects.clone(), Arc::clone(&gate));
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).records(records).bytes(bytes);
        let consumer = builder.start(move |record, context| {
            let (seen, entered) = (seen.clone(), Arc::clone(&entered));
            async move {
                if record.partition == 0 {
                    drop(entered.acquire().await.unwrap());
                } else {
                    seen.add(&record, context.generation());
                }
                Ok(())
            }
        });
        let consumer = consumer.unwrap();
        sleep(millis(100)).await;
        for partition in 1..4 {
            fill(partition, "quick", 300).await;
        }
        // The slow key does not go on meanwhile.
        effects.wait_for(900).await;
        let metrics = consumer.metrics().await;
        assert!(metrics.in_flight > 0 && metrics.in_flight < 1_000, "{metrics:?}");
        gate.add_permits(1_000);
        consumer.stop().await.unwrap();
    }
}

/// A record is stuck, and far above it the bound of records pauses the partition for a while: when there is room again, it
/// goes on.
#[colored::test]
async fn a_partition_that_was_full_goes_on_far_above_a_stuck_record() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 10, 0, 200).await;
    let (effects, gates) = (Effects::default(), [0, 0].map(|_| Arc::new(Semaphore::new(0))));
    let (seen, entered) = (effects.clone(), gates.clone());
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).distance(2_400).records(600);
    let consumer = builder.start(move |record, context| {
        let (seen, [first, later]) = (seen.clone(), entered.clone());
        async move {
            match record.offset {
                0 => drop(first.acquire().await.unwrap()),
                1_300.. => drop(later.acquire().await.unwrap()),
                _ => {}
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    metrics_when(&consumer, |metrics| metrics.partitions.iter().any(|of| of.is_paused)).await;
    gates[1].add_permits(2_000);
    // All but the key that is stuck.
    effects.wait_for(1_800).await;
    gates[0].add_permits(1);
    effects.wait_for(2_000).await;
    consumer.stop().await.unwrap();
    effects.assert_once_and_in_order(10, 200);
}

/// One stuck key pauses its partition at the distance; when it recovers, the partition goes on.
#[colored::test]
async fn a_partition_goes_on_when_its_stuck_key_recovers() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 10, 0, 100).await;
    let (effects, gate) = (Effects::default(), Arc::new(Semaphore::new(0)));
    let (seen, entered) = (effects.clone(), Arc::clone(&gate));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).distance(200);
    let consumer = builder.start(move |record, context| {
        let (seen, entered) = (seen.clone(), Arc::clone(&entered));
        async move {
            if record.offset == 7 {
                drop(entered.acquire().await.unwrap());
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    // What may be read up to the bound, without the key that is stuck.
    effects.wait_for(150).await;
    metrics_when(&consumer, |metrics| metrics.partitions[0].is_paused).await;
    sleep(millis(50)).await;
    let metrics = consumer.metrics().await;
    assert!(metrics.polled <= 207 && metrics.partitions[0].is_paused, "{metrics:?}");
    gate.add_permits(1);
    effects.wait_for(1_000).await;
    consumer.stop().await.unwrap();
    effects.assert_once_and_in_order(10, 100);
}

/// A consumer that is dropped stops in the background, and leaves its group.
#[colored::test]
async fn a_dropped_consumer_leaves() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 10).await;
    let effects = Effects::default();
    for round in 1..=2 {
        let seen = effects.clone();
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let consumer = Consumer::builder(member).strict(true).start(move |record, context| {
            seen.add(&record, context.generation());
            std::future::ready(Ok(()))
        });
        effects.wait_for(10 * round).await;
        drop(consumer.unwrap());
        send(&engine, 1, 10, 20).await;
    }
}
