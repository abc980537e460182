//! What has gone wrong in the consumers of others, and bad input.

use crate::support::Topic;
use colored::time::{Duration, sleep, timeout};
use colored_consumer::{Consumer, Event, Room, Source};
use colored_engines_proof::effects::{Effects, millis, run, settle};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

#[colored::test]
async fn an_unknown_topic_is_named() {
    let Some(topic) = Topic::new("known", 1) else { return };
    let joined = topic.engine().member("g", ["unknown"]).join().await;
    let error = joined.expect_err("there is no such topic").to_string();
    assert!(error.contains("\"unknown\""), "{error}");
}

#[colored::test]
async fn a_broker_that_is_not_there_is_an_error() {
    let engine = colored_consumer_kafka::Engine::new("127.0.0.1:1").set("log_level", "0");
    let error = engine.member("g", ["t"]).join().await.expect_err("nobody is there").to_string();
    assert!(error.contains("no broker answers"), "{error}");
}

/// What somebody else wrote beside a committed offset; and a map that claims two billion records, of which only those count
/// that the log has.
#[colored::test]
async fn foreign_and_forged_metadata_lose_nothing() {
    const FORGED: u32 = 1;
    let Some(topic) = Topic::new("foreign", 3) else { return };
    topic.send(30, 10);
    let run_of_two_billion = "ZQAAAAB/////";
    for (partition, metadata) in ["somebody's", run_of_two_billion, "bgA="].into_iter().enumerate()
    {
        let (group, partition) = ("g-foreign", partition as i32);
        colored::block_in_place(|| {
            topic.kafka.set_committed(group, &topic.name, partition, (0, metadata));
        });
    }
    let effects = Effects::default();
    let member = topic.member().join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects, millis(0));
    settle(&[&consumer], &[3]).await;
    let read = async || {
        let metrics = consumer.metrics().await;
        metrics.skipped + metrics.done
    };
    while read().await < 300 {
        sleep(millis(5)).await;
    }
    topic.send(30, 10);
    while read().await < 600 {
        sleep(millis(5)).await;
    }
    assert_eq!(consumer.metrics().await.foreign_metadata, 2);
    consumer.stop().await.unwrap();
    for key in 0..30 {
        let all = effects.all().into_iter().filter(|effect| effect.key == format!("k{key}"));
        let (numbers, partitions): (Vec<_>, Vec<_>) =
            all.map(|effect| (effect.number, effect.partition)).unzip();
        if partitions.contains(&FORGED) {
            // The record at the committed offset is never taken for done.
            assert!(numbers.iter().copied().filter(|number| *number > 0).eq(10..20), "{numbers:?}");
        } else {
            assert!(numbers.iter().copied().eq(0..20), "{numbers:?}");
        }
    }
}

/// Retention overtakes a member: it is told, and goes on where the log begins.
#[colored::test]
async fn an_offset_out_of_range_is_told() {
    let Some(topic) = Topic::new("retention", 1) else { return };
    topic.send(1, 20);
    let mut member = topic.member().join().await.unwrap();
    let room = Room { records: 100, bytes: 1 << 20 };
    let Ok(Event::Assigned(assigned)) = member.poll(room).await else { panic!("no partition") };
    colored::block_in_place(|| topic.kafka.delete_records(&topic.name, 0, 5));
    let owned = assigned[0].owned.clone();
    member.begin(&owned, 0);
    let event = timeout(Duration::from_secs(30), member.poll(room)).await.expect("an event");
    match event {
        Ok(Event::OutOfRange { owned: of, start: 5, end: 20 }) => assert_eq!(of, owned),
        other => panic!("{other:?}"),
    }
    member.begin(&owned, 5);
    let event = timeout(Duration::from_secs(30), member.poll(room)).await.expect("an event");
    let Ok(Event::Records { records, .. }) = event else { panic!("{event:?}") };
    assert_eq!(records[0].offset, 5);
    member.close().await.unwrap();
}

/// One record of many is stuck: the others go on, every commit has its map, no commit is refused, and after a restart only
/// what was not done comes again.
#[colored::test]
async fn a_stuck_record_keeps_its_map_below_the_brokers_limit() {
    const COUNT: u64 = 20_000;
    let Some(topic) = Topic::new("stuck", 1) else { return };
    // Two thirds of the keys are slow, so that the map is as long as can be.
    topic.send(100, COUNT / 100);
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let start = async |is_stuck: bool| {
        let seen = Arc::clone(&seen);
        let member = topic.member().join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).records(100_000);
        let builder =
            builder.partition_records(100_000).drain(millis(100)).commit_every(millis(20));
        let consumer = builder.start(move |record, _| {
            let seen = Arc::clone(&seen);
            async move {
                if is_stuck && record.offset % 997 == 0 {
                    std::future::pending::<()>().await;
                }
                assert!(seen.lock().unwrap().insert(record.offset), "{record:?} comes again");
                Ok(())
            }
        });
        consumer.unwrap()
    };
    let first = start(true).await;
    // The keys of the stuck records end there; the others go on.
    let mut before = 0;
    loop {
        sleep(millis(500)).await;
        let done = first.metrics().await.done;
        if done == before && done > 0 {
            break;
        }
        before = done;
    }
    let metrics = first.metrics().await;
    assert!(metrics.done > 100 && metrics.commits > 0, "{metrics:?}");
    assert_eq!(metrics.failed_commits, 0);
    first.stop().await.unwrap();
    assert_eq!(topic.committed(1), [0], "the first record is stuck");
    let second = start(false).await;
    while second.metrics().await.partitions.first().is_none_or(|of| of.committed < COUNT) {
        assert!(!second.is_ended(), "a promise is broken");
        sleep(millis(5)).await;
    }
    second.stop().await.unwrap();
    assert_eq!(seen.lock().unwrap().len() as u64, COUNT);
}

/// A member that is full is polled on, keeps no more than its bound, and hears of a rebalance; the partition that goes then
/// goes on when it comes back.
#[colored::test]
async fn a_full_member_hears_of_a_rebalance() {
    let Some(topic) = Topic::new("full", 2) else { return };
    topic.send(50, 40);
    let effects = Effects::default();
    let (gate, open) = (Arc::new(colored::sync::Semaphore::new(0)), effects.clone());
    let waits = Arc::clone(&gate);
    let member = topic.member().join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).records(100).drain(millis(200));
    let first = builder.start(move |record, context| {
        let (waits, open) = (Arc::clone(&waits), open.clone());
        async move {
            waits.acquire().await.map_err(std::io::Error::other)?.forget();
            open.add(&record, context.generation());
            Ok(())
        }
    });
    let first = first.unwrap();
    settle(&[&first], &[2]).await;
    while first.metrics().await.in_flight < 90 {
        sleep(millis(5)).await;
    }
    sleep(millis(300)).await;
    let metrics = first.metrics().await;
    assert!(metrics.polled <= 100, "{metrics:?}");
    let second = run(Consumer::builder(topic.member().join().await.unwrap()), &effects, millis(0));
    settle(&[&first, &second], &[1, 1]).await;
    gate.add_permits(10_000);
    effects.wait_for(2_000).await;
    // What was paused when it went is read when it comes back.
    second.stop().await.unwrap();
    settle(&[&first], &[2]).await;
    topic.send(50, 10);
    effects.wait_for(2_500).await;
    first.stop().await.unwrap();
    effects.assert_once_and_in_order(50, 50);
}
