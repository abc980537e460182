//! Handlers that fail, panic or hang, and what becomes of their records.

use crate::support::{Effects, Scratch, engine, key, millis, number, partition, send, until};
use colored_consumer::{Consumer, ConsumerError, Failure};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Some attempts fail, by an error, a panic or a deadline: the record is tried again, before the next of its key.
#[colored::test]
async fn a_failure_is_tried_again_in_its_order() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 6, 0, 30).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).retry(millis(1), millis(4));
    let builder = builder.deadline(millis(300));
    let consumer = builder.start(move |record, context| {
        let seen = seen.clone();
        async move {
            let is_first = context.attempt() == 1;
            match number(&record) % 10 {
                3 if is_first => panic!("number {}", number(&record)),
                5 if is_first && key(&record) == "k2" => std::future::pending().await,
                7 if context.attempt() < 4 => Err(Failure::retry("not yet")),
                // By `?`.
                8 if is_first => Ok("eight".parse::<u8>().map(|_| ())?),
                _ => {
                    seen.add(&record, context.generation());
                    Ok(())
                }
            }
        }
    });
    let consumer = consumer.unwrap();
    effects.wait_for(180).await;
    let metrics = consumer.metrics().await;
    // Each key: three panics, three times three errors, three by `?`; and three deadlines of one key.
    assert_eq!((metrics.retries, metrics.violations), (6 * (3 + 9 + 3) + 3, 0));
    consumer.stop().await.unwrap();
    effects.assert_once_and_in_order(6, 30);
}

/// More keys fail for ever than handlers may run: the others go on.
#[colored::test]
async fn keys_that_fail_for_ever_stop_only_themselves() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 20, 0, 20).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).concurrency(4);
    let consumer = builder.retry(millis(5), millis(20)).start(move |record, context| {
        let seen = seen.clone();
        async move {
            if key(&record).as_str() < "k2" {
                return Err(Failure::retry("for ever"));
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    // k0, k1 and k10 to k19 fail.
    effects.wait_for(8 * 20).await;
    let first = consumer.metrics().await.partitions[0].first.clone().unwrap();
    assert_eq!((first.offset, first.key.as_str()), (0, "key \"k0\""));
    consumer.stop().await.unwrap();
    assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 0);
}

#[colored::test]
async fn a_record_that_fails_too_often_is_a_dead_letter_and_its_key_goes_on() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 3, 0, 10).await;
    let (effects, letters) = (Effects::default(), Arc::new(Mutex::new(Vec::new())));
    let (seen, taken, calls) = (effects.clone(), Arc::clone(&letters), AtomicU32::new(0));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member)
        .strict(true)
        .retry(millis(1), millis(2))
        .attempts(3)
        .dead_letters(move |letter| {
            // The place for dead letters is sometimes out of order too. Ordering: a count.
            let is_broken = calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
            if !is_broken {
                let what =
                    (key(&letter.record), number(&letter.record), letter.attempts, letter.cause);
                taken.lock().unwrap().push(what);
            }
            std::future::ready(if is_broken { Err("out of order".into()) } else { Ok(()) })
        });
    let consumer = builder.start(move |record, context| {
        let seen = seen.clone();
        async move {
            match (key(&record).as_str(), number(&record)) {
                ("k1", 4) => Err(Failure::retry("poison")),
                ("k2", 0) => Err(Failure::dead_letter("not mine")),
                _ => {
                    seen.add(&record, context.generation());
                    Ok(())
                }
            }
        }
    });
    let consumer = consumer.unwrap();
    effects.wait_for(28).await;
    until("dead letters", || letters.lock().unwrap().len() == 2).await;
    consumer.stop().await.unwrap();
    assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 30);
    let mut letters = letters.lock().unwrap().clone();
    letters.sort();
    let expected = [("k1", 4, 3, "poison"), ("k2", 0, 1, "not mine")];
    assert_eq!(letters, expected.map(|(k, n, a, c)| (k.to_owned(), n, a, c.to_owned())));
    let k1: Vec<_> = (0..10).filter(|n| *n != 4).collect();
    assert_eq!(effects.by_key()["k1"], k1);
}

/// Without a place for dead letters nothing is dropped: the consumer ends, with an error that names the record.
#[colored::test]
async fn a_consumer_without_dead_letters_stops_and_loses_nothing() {
    for (attempts, failure) in [(Some(2), "retry"), (None, "dead"), (None, "fatal")] {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 1).await;
        send(&engine, 2, 0, 5).await;
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let mut builder = Consumer::builder(member).strict(true).retry(millis(1), millis(2));
        if let Some(attempts) = attempts {
            builder = builder.attempts(attempts);
        }
        let consumer = builder.start(move |record, _| async move {
            match (key(&record).as_str(), number(&record), failure) {
                ("k1", 2, "retry") => Err(Failure::retry("poison")),
                ("k1", 2, "dead") => Err(Failure::dead_letter("poison")),
                ("k1", 2, _) => Err(Failure::fatal("poison")),
                _ => Ok(()),
            }
        });
        let Err(ConsumerError::Fatal(text)) = consumer.unwrap().wait().await else {
            panic!("{failure}: it ends by the record")
        };
        assert!(text.starts_with("record 5 of t/0 of key \"k1\": poison"), "{text}");
        // The other key may not have come so far when the consumer stopped.
        let committed = engine.committed("g", &partition(0)).await.unwrap_or_default();
        assert!(committed.offset <= 5, "{failure}: {committed:?}");
    }
}

/// A handler that never returns is named, with its key and its offset; a stop drops it under its color.
#[colored::test]
async fn a_handler_that_never_returns_is_named_and_dropped_at_the_end() {
    struct Dropped(colored::Color, Arc<Mutex<Option<bool>>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let cell = colored::ColorCell::new(self.0, ());
            *self.1.lock().unwrap() = Some(cell.try_with(|()| ()).is_ok());
        }
    }
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 3).await;
    let dropped = Arc::new(Mutex::new(None));
    let (seen, effects) = (Arc::clone(&dropped), Effects::default());
    let begun = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).drain(millis(5));
    let consumer = builder.start(move |record, context| {
        let (seen, begun) = (Arc::clone(&seen), begun.clone());
        async move {
            begun.add(&record, context.generation());
            let _dropped = Dropped(context.color(), seen);
            std::future::pending().await
        }
    });
    let consumer = consumer.unwrap();
    effects.wait_for(1).await;
    let first = consumer.metrics().await.partitions[0].first.clone().unwrap();
    assert_eq!((first.key.as_str(), first.offset), ("key \"k0\"", 0));
    consumer.stop().await.unwrap();
    assert_eq!(*dropped.lock().unwrap(), Some(true), "dropped, under its color");
    assert_eq!(effects.count(), 1, "nothing else of the key began");
}

#[colored::test]
async fn settings_that_cannot_be_are_named() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let unknown = engine.member("g", ["t", "unknown"]).join().await.unwrap_err();
    assert!(unknown.to_string().contains("\"unknown\""), "{unknown}");
    let short = engine.member("g", ["t"]).session(millis(1)).join().await.unwrap_err();
    assert!(short.to_string().contains("1ms"), "{short}");
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).records(0);
    let error = builder.start(|_, _| std::future::ready(Ok(()))).unwrap_err();
    assert!(matches!(&error, ConsumerError::Setting(text) if text.contains("records is 0")));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).retry(millis(20), millis(10));
    let error = builder.start(|_, _| std::future::ready(Ok(()))).unwrap_err();
    assert!(error.to_string().contains("20ms"), "{error}");
    for name in ["", "a/b", "..", "x y"] {
        assert!(engine.create_topic(name, 1).await.is_err(), "{name:?}");
    }
    assert!(engine.create_topic("many", 0).await.is_err());
}
