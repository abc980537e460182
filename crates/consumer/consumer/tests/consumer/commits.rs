//! What is committed, what is skipped after a restart, and what others wrote into the group.

use crate::frozen::{Frail, Trouble};
use crate::support::{
    Effects, Scratch, engine, key, metrics_when, millis, number, partition, send, until,
};
use colored::sync::Notify;
use colored_consumer::embedded::Engine;
use colored_consumer::{Committed, Consumer, Metrics, PartitionMetrics};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Handles all that comes until there are so many effects, then stops.
async fn consume(engine: &Engine, effects: &Effects, count: usize) -> Metrics {
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let consumer = Consumer::builder(member).strict(true).start(move |record, context| {
        seen.add(&record, context.generation());
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    effects.wait_for(count).await;
    let metrics = consumer.metrics().await;
    consumer.stop().await.unwrap();
    metrics
}

#[colored::test]
async fn a_stop_commits_all_and_nothing_comes_again() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    let effects = Effects::default();
    for round in 0..3 {
        send(&engine, 4, round * 10, round * 10 + 10).await;
        consume(&engine, &effects, (round as usize + 1) * 40).await;
    }
    effects.assert_once_and_in_order(4, 30);
    for n in 0..2 {
        let end = engine.range(&partition(n)).await.unwrap().1;
        let committed = engine.committed("g", &partition(n)).await.unwrap();
        assert_eq!((committed.offset, committed.metadata), (end, Vec::new()));
    }
}

/// One key is stuck. What was done above it does not come again, also after the engine was opened again.
#[colored::test]
async fn what_is_done_above_a_stuck_record_is_skipped_after_a_restart() {
    let scratch = Scratch::new();
    let first = engine(&scratch, 1).await;
    send(&first, 10, 0, 50).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let member = first.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).drain(millis(10));
    let consumer = builder.start(move |record, context| {
        let seen = seen.clone();
        async move {
            if key(&record) == "k4" && number(&record) >= 5 {
                std::future::pending::<()>().await;
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    effects.wait_for(455).await;
    consumer.unwrap().stop().await.unwrap();
    let committed = first.committed("g", &partition(0)).await.unwrap();
    assert_eq!(committed.offset, 54);
    assert!(!committed.metadata.is_empty());
    drop(first);

    let again = engine(&scratch, 1).await;
    let metrics = consume(&again, &effects, 500).await;
    effects.assert_once_and_in_order(10, 50);
    assert_eq!(metrics.skipped, 500 - 54 - 45, "{metrics:?}");
    let generations: Vec<_> = effects.all().iter().map(|effect| effect.generation).collect();
    assert!(generations[0] < generations[499], "they rise over a restart of the engine");
}

/// 100,000 records are in flight above one that is stuck, in the worst pattern: the metadata never has more than 4,096
/// bytes, and never loses its map.
#[colored::test]
async fn the_metadata_stays_within_its_bound() {
    const COUNT: u64 = 120_000;
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, COUNT).await;
    let (trouble, effects) = (Trouble::default(), Effects::default());
    let (seen, release) = (effects.clone(), Arc::new(Notify::new()));
    let gate = Arc::clone(&release);
    // A slow machine may take longer than the usual session for what is in flight.
    let member = engine.member("g", ["t"]).session(millis(300_000)).join().await.unwrap();
    let builder = Consumer::builder(Frail { member, trouble: trouble.clone() })
        .strict(true)
        .order(colored_consumer::Order::None)
        .concurrency(60_000)
        .records(200_000)
        .partition_records(200_000)
        .commit_every(millis(20));
    let consumer = builder.start(move |record, context| {
        let (seen, gate) = (seen.clone(), Arc::clone(&gate));
        async move {
            // Every third one waits.
            if number(&record).is_multiple_of(3) {
                gate.notified().await;
                gate.notify_one();
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    // All but every third of as many as the map has room for as bits.
    effects.wait_for(16_000).await;
    until("a large map", || trouble.largest_metadata.load(Ordering::Relaxed) > 4_000).await;
    until("all records", || trouble.polled.load(Ordering::Relaxed) == COUNT as usize).await;
    let metrics = consumer.metrics().await;
    assert!(metrics.held > 0, "{metrics:?}");
    assert!(metrics.partitions[0].done_above > 10_000);
    assert!(metrics.in_flight >= 100_000, "{metrics:?}");
    release.notify_one();
    effects.wait_for(COUNT as usize).await;
    consumer.stop().await.unwrap();
    // Ordering: the consumer has ended.
    let largest = trouble.largest_metadata.load(Ordering::Relaxed);
    assert!((4_000..=4_096).contains(&largest), "{largest}");
    assert_eq!(effects.count(), COUNT as usize);
    assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, COUNT);
}

/// Whatever is in the metadata: nothing is lost, nothing dies, and it is counted.
#[colored::test]
async fn foreign_and_forged_metadata_loses_nothing() {
    let forged: [&[u8]; 5] = [
        b"consumer-1/some-host",
        &[0xff, 0xfe, 0x00],
        // An unknown form, a map that is too short, a compressed one that is torn.
        b"AQID",
        b"bA==",
        b"cCi1L/0=",
    ];
    for metadata in forged {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 1).await;
        send(&engine, 3, 0, 10).await;
        let committed = Committed { offset: 6, metadata: metadata.to_vec(), log: None };
        engine.set_committed("g", partition(0), committed).await.unwrap();
        let effects = Effects::default();
        let metrics = consume(&engine, &effects, 24).await;
        assert_eq!((metrics.foreign_metadata, metrics.skipped), (1, 0));
        assert!(effects.by_key().values().all(|numbers| *numbers == (2..10).collect::<Vec<_>>()));
    }
}

/// A map as Parallel Consumer writes it where the others are long: 300 times one offset is not done and nine are.
#[colored::test]
async fn a_map_that_is_compressed_is_read() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 20).await;
    let metadata = b"Sii1L/0AWF0AACAAAQAJAQCp/Dsi".to_vec();
    engine
        .set_committed("g", partition(0), Committed { offset: 0, metadata, log: None })
        .await
        .unwrap();
    let effects = Effects::default();
    let metrics = consume(&engine, &effects, 2).await;
    assert_eq!((metrics.foreign_metadata, metrics.skipped), (0, 18));
    assert_eq!(effects.by_key()["k0"], [0, 10]);
}

/// A map that claims two billion records ends at the end of the log.
#[colored::test]
async fn a_map_claims_nothing_beyond_the_log() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 10).await;
    // `e`, 1 not done, 2^31-1 done.
    let metadata = b"ZQAAAAF/////".to_vec();
    engine
        .set_committed("g", partition(0), Committed { offset: 0, metadata, log: None })
        .await
        .unwrap();
    let effects = Effects::default();
    consume(&engine, &effects, 1).await;
    send(&engine, 1, 10, 20).await;
    consume(&engine, &effects, 11).await;
    assert_eq!(effects.by_key()["k0"], [0].into_iter().chain(10..20).collect::<Vec<_>>());
}

/// Ten records of each of two keys, in a partition whose commits meet this trouble.
async fn commit_in(scratch: &Scratch, trouble: Trouble) -> (Engine, Consumer) {
    let engine = engine(scratch, 1).await;
    send(&engine, 2, 0, 10).await;
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(Frail { member, trouble }).strict(true);
    let builder = builder.commit_every(millis(1));
    let consumer = builder.start(|_, _| std::future::ready(Ok(())));
    (engine, consumer.unwrap())
}

#[colored::test]
async fn a_commit_that_fails_is_tried_again_and_does_not_count() {
    let (scratch, trouble) = (Scratch::new(), Trouble::default());
    // Ordering: a count of a test.
    trouble.failing_commits.store(3, Ordering::Relaxed);
    let (engine, consumer) = commit_in(&scratch, trouble).await;
    loop {
        // The commit that succeeds may be between the two: so it is looked for first.
        let committed = engine.committed("g", &partition(0)).await;
        let metrics = consumer.metrics().await;
        let told = metrics.partitions.first().map_or(0, |of| of.committed);
        if metrics.failed_commits < 3 {
            assert_eq!((committed, told), (None, 0));
        } else if told == 20 {
            break;
        }
        colored::time::sleep(millis(1)).await;
    }
    assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 20);
    consumer.stop().await.unwrap();
}

/// An engine refuses commits, and tells no loss: a broker that has forgotten a topic for a moment does. Nothing new is done
/// afterwards, and still all is committed.
#[colored::test]
async fn a_commit_that_is_refused_is_tried_again() {
    let (scratch, trouble) = (Scratch::new(), Trouble::default());
    // Ordering: a count of a test.
    trouble.refused_commits.store(3, Ordering::Relaxed);
    let (engine, consumer) = commit_in(&scratch, trouble).await;
    let has_all = |of: &PartitionMetrics| of.committed == 20;
    let metrics = metrics_when(&consumer, |metrics| metrics.partitions.iter().any(has_all)).await;
    assert_eq!((metrics.refused_commits, metrics.failed_commits), (3, 0));
    assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 20);
    consumer.stop().await.unwrap();
}

/// The lag is never negative, also where the group was ahead of the log.
#[colored::test]
async fn a_group_ahead_of_the_log_begins_where_it_was_told() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 10).await;
    let ahead = Committed { offset: 1_000, ..Committed::default() };
    engine.set_committed("g", partition(0), ahead).await.unwrap();
    let effects = Effects::default();
    let metrics = consume(&engine, &effects, 10).await;
    assert!(metrics.partitions[0].lag <= 10, "{metrics:?}");
    effects.assert_once_and_in_order(1, 10);
}
