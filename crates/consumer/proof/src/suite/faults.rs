//! What has gone wrong in the consumers of others: handlers that fail or hang, bounds, and commits of others.

use super::{SESSION, TestTopic, commit_as_another, until};
use crate::effects::{Effects, millis, run, settle};
use colored::sync::Semaphore;
use colored::time::{Duration, sleep};
use colored_consumer::{Committed, Consumer, Failure, Record};
use std::collections::HashSet;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

fn number(record: &Record) -> u64 {
    let text = std::str::from_utf8(record.value.as_deref().unwrap_or_default())
        .expect("it is as it was sent");
    text.parse().expect("it is as it was sent")
}

fn key(record: &Record) -> usize {
    let key = record.key.as_deref().unwrap_or_default();
    let number = std::str::from_utf8(&key[1..]).expect("it is as it was sent");
    number.parse().expect("it is as it was sent")
}

/// Some attempts fail, by an error, a panic or a deadline: the record is tried again, before the next of its key. Not
/// cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_failure_is_tried_again_in_its_order<T: TestTopic>(topic: &T) {
    topic.send(6, 30).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let builder = Consumer::builder(topic.join(SESSION, None).await).strict(true);
    let builder = builder.retry(millis(1), millis(4)).deadline(millis(500));
    let consumer = builder.start(move |record, context| {
        let seen = seen.clone();
        async move {
            let is_first = context.attempt() == 1;
            match number(&record) % 10 {
                3 if is_first => panic!("number {}", number(&record)),
                5 if is_first && key(&record) == 2 => pending().await,
                7 if context.attempt() < 4 => Err(Failure::retry("not yet")),
                _ => {
                    seen.add(&record, context.generation());
                    Ok(())
                }
            }
        }
    });
    let consumer = consumer.expect("the settings are good");
    effects.wait_for(180).await;
    let metrics = consumer.metrics().await;
    // Each key: three panics and three times three errors; and three deadlines of one key.
    assert_eq!((metrics.retries, metrics.violations), (6 * (3 + 9) + 3, 0));
    consumer.stop().await.expect("the engine works");
    effects.assert_once_and_in_order(6, 30);
    assert_eq!(topic.committed().await, topic.ends().await);
}

/// A handler that never returns is named, with its key and its offset; the other keys go on, and a stop drops it and commits
/// nothing of its key. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_handler_that_never_returns_is_named_and_dropped_at_the_end<T: TestTopic>(topic: &T) {
    topic.send(3, 20).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let builder = Consumer::builder(topic.join(SESSION, None).await).strict(true);
    let consumer = builder.drain(millis(5)).start(move |record, context| {
        let seen = seen.clone();
        async move {
            if key(&record) == 1 && number(&record) == 4 {
                pending::<()>().await;
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.expect("the settings are good");
    effects.wait_for(2 * 20 + 4).await;
    until("its name", async || {
        let first = consumer.metrics().await.partitions[0].first.clone();
        first.is_some_and(|first| first.key == "key \"k1\"" && first.waits_for == "its handler")
    })
    .await;
    let first = consumer.metrics().await.partitions[0].first.clone().expect("it hangs");
    consumer.stop().await.expect("the engine works");
    // The fifth of the second key, behind four of each and one of the first key.
    let offset = topic.ends().await[0] - 60 + 4 * 3 + 1;
    assert_eq!((first.offset, topic.committed().await), (offset, vec![offset]));
    let effects_of_others = Effects::default();
    let member = topic.join(SESSION, None).await;
    let consumer = run(Consumer::builder(member), &effects_of_others, Duration::ZERO);
    effects_of_others.wait_for(16).await;
    consumer.stop().await.expect("the engine works");
    let again = effects_of_others.all();
    assert!(again.iter().map(|effect| effect.number).eq(4..20), "only what was left: {again:?}");
}

/// A key that is stuck pauses its partition at the distance; when it recovers, the partition goes on. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_partition_goes_on_when_its_stuck_key_recovers<T: TestTopic>(topic: &T) {
    topic.send(10, 100).await;
    let (effects, gate) = (Effects::default(), Arc::new(Semaphore::new(0)));
    let (seen, entered) = (effects.clone(), Arc::clone(&gate));
    let builder = Consumer::builder(topic.join(SESSION, None).await).strict(true).distance(200);
    let consumer = builder.start(move |record, context| {
        let (seen, entered) = (seen.clone(), Arc::clone(&entered));
        async move {
            if key(&record) == 7 && number(&record) == 0 {
                entered.acquire().await.map_err(std::io::Error::other)?.forget();
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.expect("the settings are good");
    // What may be read up to the bound, without the key that is stuck.
    effects.wait_for(150).await;
    until("the pause", async || consumer.metrics().await.partitions[0].is_paused).await;
    sleep(millis(300)).await;
    let metrics = consumer.metrics().await;
    assert!(metrics.polled <= 207 && metrics.partitions[0].is_paused, "{metrics:?}");
    gate.add_permits(1);
    effects.wait_for(1_000).await;
    consumer.stop().await.expect("the engine works");
    effects.assert_once_and_in_order(10, 100);
}

/// A member that is full is polled on, keeps no more than its bound, and hears of a rebalance; the partition that goes then
/// goes on when it comes back. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_full_member_hears_of_a_rebalance<T: TestTopic>(topic: &T) {
    topic.send(50, 40).await;
    let effects = Effects::default();
    let (gate, open) = (Arc::new(Semaphore::new(0)), effects.clone());
    let waits = Arc::clone(&gate);
    let member = topic.join(SESSION, None).await;
    let builder = Consumer::builder(member).strict(true).records(100).drain(millis(200));
    let first = builder.start(move |record, context| {
        let (waits, open) = (Arc::clone(&waits), open.clone());
        async move {
            waits.acquire().await.map_err(std::io::Error::other)?.forget();
            open.add(&record, context.generation());
            Ok(())
        }
    });
    let first = first.expect("the settings are good");
    settle(&[&first], &[2]).await;
    until("records", async || first.metrics().await.in_flight >= 90).await;
    sleep(millis(300)).await;
    let metrics = first.metrics().await;
    assert!(metrics.polled <= 100, "{metrics:?}");
    let member = topic.join(SESSION, None).await;
    let second = run(Consumer::builder(member), &effects, Duration::ZERO);
    settle(&[&first, &second], &[1, 1]).await;
    gate.add_permits(10_000);
    effects.wait_for(2_000).await;
    // What was paused when it went is read when it comes back.
    second.stop().await.expect("the engine works");
    settle(&[&first], &[2]).await;
    topic.send(50, 10).await;
    effects.wait_for(2_500).await;
    first.stop().await.expect("the engine works");
    effects.assert_once_and_in_order(50, 50);
}

/// The place of a record that was sent to the only partition.
type Places = Arc<Mutex<HashSet<u64>>>;

fn lock(places: &Places) -> MutexGuard<'_, HashSet<u64>> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A consumer with room for 100,000 records. Its handlers hang at some of them if that is wanted.
async fn start_stuck<T: TestTopic>(topic: &T, is_stuck: bool, seen: &Places) -> Consumer {
    let member = topic.join(SESSION, None).await;
    let builder = Consumer::builder(member).strict(true).records(100_000);
    let builder = builder.partition_records(100_000).drain(millis(500)).commit_every(millis(20));
    let seen = Arc::clone(seen);
    let consumer = builder.start(move |record, _| {
        let seen = Arc::clone(&seen);
        async move {
            let place = number(&record) * 100 + key(&record) as u64;
            if is_stuck && place.is_multiple_of(997) {
                pending::<()>().await;
            }
            let is_new = lock(&seen).insert(place);
            if is_new { Ok(()) } else { Err(Failure::fatal("it comes again")) }
        }
    });
    consumer.expect("the settings are good")
}

/// The first of 100,000 records is stuck, and so are others: the rest goes on, every commit has its map, which the engine
/// never refuses, and after a restart only what was not done comes again. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_stuck_record_keeps_its_map_within_the_limit<T: TestTopic>(topic: &T) {
    const COUNT: u64 = 100_000;
    topic.send(100, COUNT / 100).await;
    let (start, end) = (topic.ends().await[0] - COUNT, topic.ends().await[0]);
    let seen = Places::default();
    let first = start_stuck(topic, true, &seen).await;
    // The keys of the stuck records end there. The others go on until the map has no more room.
    let mut before = 0;
    until("a full map", async || {
        sleep(millis(500)).await;
        let metrics = first.metrics().await;
        let stands = metrics.done == before && metrics.held > 0;
        before = metrics.done;
        stands
    })
    .await;
    let metrics = first.metrics().await;
    assert!(metrics.done > 1_000 && metrics.commits > 0, "{metrics:?}");
    assert_eq!((metrics.failed_commits, metrics.violations), (0, 0));
    first.stop().await.expect("no record comes twice");
    assert_eq!(topic.committed().await, [start], "the first record is stuck");
    let second = start_stuck(topic, false, &seen).await;
    until("the rest", async || {
        assert!(!second.is_ended(), "a promise is broken");
        second.metrics().await.partitions.first().is_some_and(|of| of.committed == end)
    })
    .await;
    assert!(second.metrics().await.skipped >= metrics.done, "the map was read");
    second.stop().await.expect("no record comes twice");
    assert_eq!(lock(&seen).len() as u64, COUNT);
}

/// What somebody else wrote beside a committed offset; and a map that claims two billion records, of which only those count
/// that the log has. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn foreign_and_forged_metadata_lose_nothing<T: TestTopic>(topic: &T) {
    const FORGED: u32 = 1;
    topic.send(30, 10).await;
    let run_of_two_billion = "ZQAAAAB/////";
    let metadata = ["somebody's", run_of_two_billion, "bgA="];
    commit_as_another(topic, 3, |of| Committed {
        offset: of.log.start,
        metadata: metadata[of.owned.partition.partition as usize].into(),
        log: None,
    })
    .await;
    let effects = Effects::default();
    let member = topic.join(SESSION, None).await;
    let consumer = run(Consumer::builder(member), &effects, Duration::ZERO);
    settle(&[&consumer], &[3]).await;
    let read = async |count| {
        let metrics = consumer.metrics().await;
        metrics.skipped + metrics.done >= count
    };
    until("the first records", async || read(300).await).await;
    topic.send(30, 10).await;
    until("the others", async || read(600).await).await;
    assert_eq!(consumer.metrics().await.foreign_metadata, 2);
    consumer.stop().await.expect("the engine works");
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

/// A group that is ahead of the log, as after a loss of records, begins where the consumer was told; the lag is never
/// negative. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_group_ahead_of_the_log_begins_where_it_was_told<T: TestTopic>(topic: &T) {
    topic.send(2, 10).await;
    let ahead = |end| Committed { offset: end + 1_000, ..Committed::default() };
    commit_as_another(topic, 1, |of| ahead(of.log.limit)).await;
    let effects = Effects::default();
    let member = topic.join(SESSION, None).await;
    let consumer = run(Consumer::builder(member), &effects, Duration::ZERO);
    effects.wait_for(20).await;
    let metrics = consumer.metrics().await;
    assert!(metrics.partitions[0].lag <= 20, "{metrics:?}");
    consumer.stop().await.expect("the engine works");
    effects.assert_once_and_in_order(2, 10);
    assert_eq!(topic.committed().await, topic.ends().await);
}
