//! Pauses by hand, seeks, and replays of a span of time.

use crate::frozen::{Frail, Trouble};
use crate::support::{
    Effects, Scratch, engine, metrics_when, millis, number, partition, send, start_gated, until,
};
use colored::sync::Semaphore;
use colored::time::{sleep, timeout};
use colored_consumer::embedded::{Engine, NewRecord};
use colored_consumer::{Consumer, ConsumerError, Place, Reset};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

async fn start(engine: &Engine, group: &str, effects: &Effects) -> Consumer {
    let seen = effects.clone();
    let member = engine.member(group, ["t", "other"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).commit_every(millis(5));
    let consumer = builder.start(move |record, context| {
        seen.add(&record, context.generation());
        std::future::ready(Ok(()))
    });
    consumer.unwrap()
}

async fn send_other(engine: &Engine, from: u64, to: u64) {
    let record = |number: u64| NewRecord::new("other", number.to_string());
    engine.send_all("other", (from..to).map(record)).await.unwrap();
}

/// Nothing of a paused topic starts, not even what was read, what is to be tried again or the rest of a run; other topics go on,
/// and the member is not taken for dead.
#[colored::test]
async fn a_topic_is_paused_by_hand() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    engine.create_topic("other", 1).await.unwrap();
    send(&engine, 10, 0, 50).await;
    let (effects, gate) = (Effects::default(), Arc::new(Semaphore::new(0)));
    let (seen, entered) = (effects.clone(), Arc::clone(&gate));
    let member = engine.member("g", ["t", "other"]).session(millis(500)).join().await.unwrap();
    let trouble = Trouble::default();
    let builder = Consumer::builder(Frail { member, trouble: trouble.clone() }).strict(true);
    let builder = builder.concurrency(5).retry(millis(1), millis(1));
    let consumer = builder.start(move |record, context| {
        let (seen, entered) = (seen.clone(), Arc::clone(&entered));
        async move {
            if &*record.topic == "t" {
                entered.acquire().await.unwrap().forget();
                if number(&record) == 7 && context.attempt() < 3 {
                    return Err("not yet".parse::<u8>().unwrap_err().into());
                }
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    gate.add_permits(63);
    until("the handlers", || effects.count() > 40).await;
    consumer.pause("t").await;
    consumer.pause("a topic that is not read").await;
    // What runs may go on: five handlers at most.
    gate.add_permits(1_000);
    // Each of them holds the gate until its end.
    until("the end of the handlers", || Arc::strong_count(&gate) == 2).await;
    let paused_at = effects.count();
    let generations = async || {
        let partitions = consumer.metrics().await.partitions;
        partitions.iter().map(|of| of.generation).collect::<Vec<_>>()
    };
    let before = generations().await;
    // Ordering: a count of a test.
    let polled = trouble.polled.load(Ordering::Relaxed);
    send(&engine, 10, 50, 60).await;
    sleep(millis(800)).await;
    assert_eq!(effects.count(), paused_at);
    assert_eq!(trouble.polled.load(Ordering::Relaxed), polled, "nothing is read");
    assert_eq!(generations().await, before, "it was never taken for dead");
    send_other(&engine, 0, 30).await;
    effects.wait_for(paused_at + 30).await;
    let metrics = consumer.metrics().await;
    let held: Vec<_> = metrics.partitions.iter().map(|of| (of.is_held, of.is_paused)).collect();
    assert_eq!(held, [(false, false), (true, true), (true, true)]);
    let first = metrics.partitions[1].first.clone().or(metrics.partitions[2].first.clone());
    assert_eq!(first.unwrap().waits_for, "the end of its topic's pause");
    assert!(timeout(millis(50), consumer.caught_up()).await.is_err(), "it waits for the topic");
    consumer.resume("t").await;
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    let mut by_key = effects.by_key();
    assert_eq!(by_key.remove("other"), Some((0..30).collect::<Vec<_>>()));
    assert_eq!(by_key.len(), 10);
    assert!(by_key.values().all(|numbers| *numbers == (0..60).collect::<Vec<_>>()), "{by_key:?}");
}

/// A pause holds for partitions that come later, and a consumer whose topic is paused gives its partitions up.
#[colored::test]
async fn a_paused_topic_is_handed_over() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 4).await;
    engine.create_topic("other", 1).await.unwrap();
    let effects = Effects::default();
    let first = start(&engine, "g", &effects).await;
    first.pause("t").await;
    send(&engine, 20, 0, 10).await;
    assert!(timeout(millis(100), first.caught_up()).await.is_err());
    assert_eq!(effects.count(), 0);
    let second = start(&engine, "g", &effects).await;
    // It gets one after the other.
    metrics_when(&second, |metrics| metrics.partitions.len() == 2).await;
    assert!(second.caught_up().await);
    let some = effects.count();
    assert!(0 < some && some < 200, "the first has its share still");
    second.stop().await.unwrap();
    send(&engine, 20, 10, 20).await;
    sleep(millis(50)).await;
    assert_eq!(effects.count(), some, "what comes back is paused");
    first.resume("t").await;
    effects.wait_for(400).await;
    first.stop().await.unwrap();
    effects.assert_once_and_in_order(20, 20);
}

#[colored::test]
async fn a_group_goes_on_at_another_place() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    engine.create_topic("other", 1).await.unwrap();
    send(&engine, 2, 0, 10).await;
    sleep(millis(5)).await;
    let middle = SystemTime::now();
    sleep(millis(5)).await;
    send(&engine, 2, 10, 20).await;
    let effects = Effects::default();
    let consumer = start(&engine, "g", &effects).await;
    assert!(consumer.caught_up().await);
    let mut count = 40;
    // Each place, with how many records are from there to the end.
    for (place, repeated) in [
        (Place::Start, 40),
        (Place::Offset(30), 10),
        (Place::Time(middle), 20),
        (Place::End, 0),
        (Place::Offset(1_000), 0),
        (Place::Time(SystemTime::now()), 0),
        (Place::Time(SystemTime::UNIX_EPOCH), 40),
    ] {
        assert_eq!(consumer.seek("t", place).await.unwrap(), 1);
        assert!(consumer.caught_up().await);
        count += repeated;
        assert_eq!(effects.count(), count, "{place:?}");
        let all = effects.all();
        for key in ["k0", "k1"] {
            let of_key = all[count - repeated..].iter().filter(|of| of.key == key);
            assert!(of_key.map(|of| of.offset).is_sorted(), "{place:?}: {all:?}");
        }
    }
    // The place is committed, though nothing was done.
    consumer.pause("t").await;
    assert_eq!(consumer.seek("t", Place::Offset(36)).await.unwrap(), 1);
    consumer.stop().await.unwrap();
    assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 36);
    let again = start(&engine, "g", &effects).await;
    assert!(again.caught_up().await);
    assert_eq!(effects.count(), count + 4);
    let refused = again.seek("unread", Place::Start).await.unwrap_err().to_string();
    assert!(refused.contains("no partition of the topic \"unread\""), "{refused}");
    again.stop().await.unwrap();
}

/// The handlers of the old place end first, and what they do is not committed.
#[colored::test]
async fn a_seek_waits_for_the_handlers_of_the_old_place() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 3, 0, 10).await;
    let (begun, effects) = (Effects::default(), Effects::default());
    let gate = Arc::new(Semaphore::new(6));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let consumer = start_gated(Consumer::builder(member), &begun, &gate, &effects);
    // Six are done, and three wait in their handlers.
    begun.wait_for(9).await;
    assert_eq!(consumer.seek("t", Place::Start).await.unwrap(), 1);
    sleep(millis(30)).await;
    assert_eq!(effects.count(), 6);
    // The partition is counted once, and each sample is there once.
    let metrics = consumer.metrics().await;
    assert_eq!(metrics.partitions.len(), 1);
    let text = metrics.open_metrics("g");
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let mut names: Vec<_> = samples.map(|line| line.rsplit_once(' ').unwrap().0).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    gate.add_permits(1_000);
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    let mut before = 0;
    for numbers in effects.by_key().into_values() {
        let count = numbers.len() as u64 - 10;
        assert_eq!(numbers, (0..count).chain(0..10).collect::<Vec<_>>());
        before += count;
    }
    assert_eq!(before, 6 + 3, "those that were done, and the three that ran");
}

/// A span of time, for a group of its own; after a restart it goes on where it was.
#[colored::test]
async fn a_span_of_time_is_replayed() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 3).await;
    let mut times = Vec::new();
    for phase in 0..4 {
        times.push(SystemTime::now());
        sleep(millis(5)).await;
        send(&engine, 10, phase * 10, phase * 10 + 10).await;
        sleep(millis(5)).await;
    }
    let span = times[1]..times[3];
    let replay = async |effects: &Effects, most: u64| {
        let seen = effects.clone();
        let member = engine.member("replay", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).replay(span.clone());
        let builder = builder.drain(millis(10)).commit_every(millis(1));
        let consumer = builder.start(move |record, context| {
            let seen = seen.clone();
            async move {
                if number(&record) >= most {
                    std::future::pending::<()>().await;
                }
                seen.add(&record, context.generation());
                Ok(())
            }
        });
        consumer.unwrap()
    };
    let effects = Effects::default();
    let first = replay(&effects, 20).await;
    effects.wait_for(100).await;
    assert!(timeout(millis(50), first.caught_up()).await.is_err(), "half is done");
    assert!(!first.metrics().await.is_caught_up);
    first.stop().await.unwrap();
    let second = replay(&effects, 1_000).await;
    assert!(second.caught_up().await);
    send(&engine, 10, 40, 50).await;
    assert!(second.caught_up().await, "what is new is not its concern");
    let metrics = second.metrics().await;
    assert!(metrics.is_caught_up && metrics.partitions.iter().all(|of| of.lag == 0));
    second.stop().await.unwrap();
    assert_eq!(effects.by_key().len(), 10);
    for numbers in effects.by_key().into_values() {
        assert_eq!(numbers, (10..30).collect::<Vec<_>>());
    }
    for n in 0..3 {
        let committed = engine.committed("replay", &partition(n)).await.unwrap().offset;
        let (_, end) = engine.range(&partition(n)).await.unwrap();
        assert!(committed < end, "it has not passed the records behind the span");
    }
    assert_eq!(engine.committed("g", &partition(0)).await, None, "no other group notices");
}

#[colored::test]
async fn a_span_that_has_not_ended_is_refused() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let now = SystemTime::now();
    for span in [now - millis(5)..now + millis(60_000), now..now - millis(5), now..now] {
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).replay(span);
        let refused = builder.start(|_, _| std::future::ready(Ok(()))).unwrap_err();
        let ConsumerError::Setting(text) = refused else { panic!("{refused}") };
        assert!(text.contains("not in the future"), "{text}");
    }
}

/// A group without a place begins a replay where the span begins, whatever [`Reset`] says: it has caught up when that is handled.
#[colored::test]
async fn a_replay_has_caught_up_when_its_span_is_handled() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let start = SystemTime::now();
    sleep(millis(5)).await;
    send(&engine, 1, 0, 10).await;
    sleep(millis(5)).await;
    let end = SystemTime::now();
    for round in 0..40 {
        let effects = Effects::default();
        let seen = effects.clone();
        let member = engine.member(&format!("g{round}"), ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).reset(Reset::Latest);
        let consumer = builder.replay(start..end).start(move |record, context| {
            seen.add(&record, context.generation());
            std::future::ready(Ok(()))
        });
        let consumer = consumer.unwrap();
        if round % 2 == 0 {
            assert!(timeout(millis(60_000), consumer.caught_up()).await.unwrap());
        } else {
            while !consumer.metrics().await.is_caught_up {}
        }
        assert_eq!(effects.count(), 10, "round {round}");
        consumer.stop().await.unwrap();
    }
}

/// Handlers that are dropped are counted, though their partition goes on elsewhere.
#[colored::test]
async fn handlers_that_a_seek_drops_are_counted() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 1).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).drain(millis(10));
    let consumer = builder.start(move |record, context| {
        seen.add(&record, context.generation());
        std::future::pending()
    });
    let consumer = consumer.unwrap();
    for dropped in 0..3 {
        effects.wait_for(dropped + 1).await;
        assert_eq!(consumer.metrics().await.aborted, dropped as u64);
        assert_eq!(consumer.seek("t", Place::Start).await.unwrap(), 1);
    }
    consumer.stop().await.unwrap();
}
