//! Handlers that fail, panic or hang, and what becomes of their records.

use crate::frozen::Changed;
use crate::support::{Effects, Scratch, engine, key, millis, number, partition, send, until};
use bytes::Bytes;
use colored_consumer::{Consumer, ConsumerError, DeadLetter, Failure, Record};
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

/// What takes the dead letters fails by an error, by a panic of its call, and by a panic of its future: it is called again until
/// it takes the record, the key goes on, and the metrics name it and not the handler. E7.
#[colored::test]
async fn dead_letters_that_panic_are_called_again() {
    for kind in ["an error", "a panic of the call", "a panic of the future"] {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 1).await;
        send(&engine, 1, 0, 3).await;
        let (effects, calls) = (Effects::default(), Arc::new(AtomicU32::new(0)));
        let (seen, called) = (effects.clone(), Arc::clone(&calls));
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).retry(millis(1), millis(2));
        let builder = builder.attempts(2).dead_letters(move |letter| {
            // Ordering: a count.
            let is_broken = called.fetch_add(1, Ordering::Relaxed) < 3;
            assert!(!is_broken || kind != "a panic of the call", "{kind}");
            async move {
                assert!(!is_broken || kind != "a panic of the future", "{kind}");
                assert_eq!((letter.attempts, &letter.cause[..]), (2, "poison"));
                if is_broken { Err(kind.into()) } else { Ok(()) }
            }
        });
        let consumer = builder.start(move |record, context| {
            let seen = seen.clone();
            async move {
                if number(&record) == 0 {
                    return Err(Failure::retry("poison"));
                }
                seen.add(&record, context.generation());
                Ok(())
            }
        });
        let consumer = consumer.unwrap();
        assert!(consumer.caught_up().await, "{kind}");
        let metrics = consumer.metrics().await;
        let counts = (metrics.retries, metrics.failed_dead_letters, metrics.dead_letters);
        assert_eq!(counts, (1, 3, 1), "{kind}");
        consumer.stop().await.unwrap();
        assert_eq!((calls.load(Ordering::Relaxed), effects.count()), (4, 2), "{kind}");
        assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 3);
    }
}

/// While the dead letters do not take a record, the metrics say that it waits for them.
#[colored::test]
async fn the_metrics_name_dead_letters_that_are_stuck() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 1).await;
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).drain(millis(1)).retry(millis(1), millis(1));
    let is_first = AtomicU32::new(0);
    let builder = builder.dead_letters(move |_| {
        // Ordering: a count.
        let is_first = is_first.fetch_add(1, Ordering::Relaxed) == 0;
        async move { if is_first { Err("no".into()) } else { std::future::pending().await } }
    });
    let consumer = builder.start(|_, _| async { Err(Failure::dead_letter("poison")) }).unwrap();
    let waits_for = async || {
        let metrics = consumer.metrics().await;
        metrics.partitions.first()?.first.as_ref().map(|first| first.waits_for)
    };
    let end = colored::time::Instant::now() + millis(60_000);
    while waits_for().await != Some("the dead letters") {
        assert!(colored::time::Instant::now() < end, "{:?}", waits_for().await);
        colored::time::sleep(millis(1)).await;
    }
    consumer.stop().await.unwrap();
}

/// Panics of the function of the key, of the text of an error, and of destructors are failures of their hooks, and no key
/// stops. E7.
#[colored::test]
async fn a_panic_anywhere_in_the_users_code_stops_no_key() {
    #[derive(Debug)]
    struct Bad;
    impl std::fmt::Display for Bad {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("the text of an error")
        }
    }
    impl std::error::Error for Bad {}
    struct Bomb(bool);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.0, "a destructor");
        }
    }
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 2, 0, 5).await;
    let (effects, letters) = (Effects::default(), Arc::new(Mutex::new(Vec::new())));
    let (seen, taken) = (effects.clone(), Arc::clone(&letters));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).retry(millis(1), millis(2)).attempts(2);
    let builder = builder.key(|record| {
        assert!(number(record) != 3, "the key of {}", number(record));
        record.key.clone()
    });
    let builder = builder.dead_letters(move |letter| {
        let DeadLetter { record, cause, attempts } = letter;
        taken.lock().unwrap().push((key(&record), number(&record), attempts, cause));
        std::future::ready(Ok(()))
    });
    let consumer = builder.start(move |record, context| {
        let (seen, bomb) = (seen.clone(), Bomb(number(&record) == 2 && context.attempt() == 1));
        let mut is_done = false;
        std::future::poll_fn(move |_| {
            let _ = &bomb;
            assert!(!std::mem::replace(&mut is_done, true), "it was polled after its end");
            std::task::Poll::Ready(match number(&record) {
                1 => Err(Failure::Retry(Box::new(Bad))),
                _ if bomb.0 => Ok(()),
                _ => {
                    seen.add(&record, context.generation());
                    Ok(())
                }
            })
        })
    });
    let consumer = consumer.unwrap();
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 10);
    for (_, numbers) in effects.by_key() {
        assert_eq!(numbers, [0, 2, 4]);
    }
    let mut letters = letters.lock().unwrap().clone();
    letters.sort();
    let of = |key: &str, number, attempts, cause: &str| {
        (key.to_owned(), number, attempts, cause.to_owned())
    };
    let expected = ["k0", "k1"].map(|key| {
        let cause = "the function of its key panicked: the key of 3";
        [of(key, 1, 2, "panicked: the text of an error"), of(key, 3, 0, cause)]
    });
    assert_eq!(letters, expected.concat());
}

/// Every time that can be set may be as long as there are times.
#[colored::test]
async fn times_may_be_as_long_as_they_can_be() {
    let max = std::time::Duration::MAX;
    for kind in ["drain", "commit_every", "deadline", "slow", "retry", "batch", "session"] {
        let scratch = Scratch::new();
        let engine = engine(&scratch, 1).await;
        send(&engine, 3, 0, 5).await;
        let effects = Effects::default();
        let seen = effects.clone();
        let member = engine.member("g", ["t"]);
        let member = if kind == "session" { member.session(max) } else { member };
        let builder = Consumer::builder(member.join().await.unwrap()).strict(true);
        let builder = match kind {
            "drain" => builder.drain(max),
            "commit_every" => builder.commit_every(max),
            "deadline" => builder.deadline(max),
            "slow" => builder.slow(max),
            "retry" => builder.retry(millis(1), max),
            _ => builder,
        };
        let longest = if kind == "batch" { max } else { millis(1) };
        let consumer = builder.start_batches(5, longest, move |records, context| {
            let seen = seen.clone();
            async move {
                if kind == "retry" && context.attempt() < 3 {
                    return Err(Failure::retry("again"));
                }
                records.iter().for_each(|record| seen.add(record, context.generation()));
                Ok(())
            }
        });
        let consumer = consumer.unwrap();
        assert!(consumer.caught_up().await, "{kind}");
        consumer.stop().await.unwrap();
        effects.assert_once_and_in_order(3, 5);
        assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 15, "{kind}");
    }
}

/// Bytes whose owner panics when they are dropped.
pub(crate) struct Bomb;

impl AsRef<[u8]> for Bomb {
    fn as_ref(&self) -> &[u8] {
        b"3"
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the owner of the bytes");
    }
}

/// What a source has put into a record panics when it is dropped: that costs nothing else.
#[colored::test]
async fn a_destructor_of_a_record_that_panics_stops_nothing() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 3, 0, 200).await;
    let effects = Effects::default();
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let change: fn(&mut Record) = |record| {
        if record.offset % 40 == 7 {
            record.headers.push(("bomb".to_owned(), Some(Bytes::from_owner(Bomb))));
        }
    };
    let builder = Consumer::builder(Changed { member, change }).strict(true).concurrency(1);
    // Some have begun, others wait, when it stops.
    let begun = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&begun);
    let consumer = builder.drain(millis(10)).start(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::pending()
    });
    let consumer = consumer.unwrap();
    until("a handler begins", || begun.load(Ordering::Relaxed) > 0).await;
    consumer.stop().await.unwrap();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(Changed { member, change }).strict(true).concurrency(2);
    // The keys have them, too: a single one.
    let builder = builder.key(|_| Some(Bytes::from_owner(Bomb)));
    let consumer = builder.start(move |record, context| {
        seen.add(&record, context.generation());
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    effects.wait_for(600).await;
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    effects.assert_once_and_in_order(3, 200);
    assert_eq!(engine.committed("g", &partition(0)).await.unwrap().offset, 600);
}

/// A partition that is to go gives no record to the dead letters: it comes again, where the partition goes.
#[colored::test]
async fn no_dead_letter_is_sent_of_a_partition_that_is_to_go() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 3).await;
    let (begun, sent) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (begins, sends) = (Arc::clone(&begun), Arc::clone(&sent));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).dead_letters(move |_| {
        // Ordering: counts of a test, here and below.
        sends.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Ok(()))
    });
    let consumer = builder.start(move |_, context| {
        begins.fetch_add(1, Ordering::Relaxed);
        async move {
            context.revoked().await;
            Err(Failure::dead_letter("poison"))
        }
    });
    until("a handler begins", || begun.load(Ordering::Relaxed) > 0).await;
    consumer.unwrap().stop().await.unwrap();
    assert_eq!((begun.load(Ordering::Relaxed), sent.load(Ordering::Relaxed)), (1, 0));
    let committed = engine.committed("g", &partition(0)).await.map(|of| of.offset);
    assert_eq!(committed.unwrap_or(0), 0);
}
