//! When records are handled: rates, times that handlers name, and batches.

use crate::support::{Effects, Scratch, engine, key, millis, number, send, until};
use colored::time::{Duration, Instant, sleep, timeout};
use colored_consumer::embedded::NewRecord;
use colored_consumer::{Builder, Consumer, ConsumerError, Failure, Order, Source};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A handler that is not ready names the time, and its record never becomes a dead letter by that.
#[colored::test]
async fn a_handler_says_when_to_come_again() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 4, 0, 5).await;
    let (effects, calls) = (Effects::default(), Arc::new(Mutex::new(BTreeMap::new())));
    let (seen, times) = (effects.clone(), Arc::clone(&calls));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    // By itself, a retry would wait for longer than the test does.
    let builder = Consumer::builder(member).strict(true).concurrency(1).attempts(2);
    let builder = builder.retry(Duration::from_secs(600), Duration::from_secs(600));
    let consumer = builder.start(move |record, context| {
        let mut times = times.lock().unwrap();
        let times: &mut Vec<_> = times.entry((key(&record), number(&record))).or_default();
        times.push((Instant::now(), context.attempt()));
        let result = match (key(&record).as_str(), number(&record), times.len()) {
            ("k0", 2, 1..=5) => Err(Failure::later(millis(20))),
            ("k1", 3, 1) => Err(Failure::retry_after(millis(30), "not yet")),
            _ => {
                seen.add(&record, context.generation());
                Ok(())
            }
        };
        std::future::ready(result)
    });
    let consumer = consumer.unwrap();
    effects.wait_for(20).await;
    let metrics = consumer.metrics().await;
    assert_eq!((metrics.postponed, metrics.retries, metrics.dead_letters), (5, 1, 0));
    consumer.stop().await.unwrap();
    effects.assert_once_and_in_order(4, 5);
    let calls = calls.lock().unwrap();
    let later = &calls[&("k0".to_owned(), 2)];
    assert!(later.iter().all(|(_, attempt)| *attempt == 1), "{later:?}");
    assert!(later.windows(2).all(|pair| pair[1].0 - pair[0].0 >= millis(20)), "{later:?}");
    let again = &calls[&("k1".to_owned(), 3)];
    assert!(again[1].0 - again[0].0 >= millis(30) && again[1].1 == 2, "{again:?}");
    // The others did not wait for it.
    let order: Vec<_> = effects.all().into_iter().map(|of| (of.key, of.number)).collect();
    let place = |key: &str, number| order.iter().position(|of| *of == (key.to_owned(), number));
    assert!(place("k3", 4) < place("k0", 2), "{order:?}");
}

/// The times at which the records of each key began.
async fn begins<S: Source>(builder: Builder<S>, count: usize) -> BTreeMap<String, Vec<Instant>> {
    let begun: Arc<Mutex<BTreeMap<String, Vec<Instant>>>> = Arc::default();
    let begins = Arc::clone(&begun);
    let consumer = builder.strict(true).start(move |record, _| {
        begins.lock().unwrap().entry(key(&record)).or_default().push(Instant::now());
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    until("all records", || begun.lock().unwrap().values().map(Vec::len).sum::<usize>() == count)
        .await;
    let metrics = consumer.metrics().await;
    assert!(metrics.slowed > 0, "{metrics:?}");
    consumer.stop().await.unwrap();
    begun.lock().unwrap().clone()
}

#[colored::test]
async fn a_key_has_a_rate_and_does_not_slow_others_down() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 1, 0, 12).await;
    for number in 0..30_u64 {
        let record = NewRecord::new(format!("single {number}"), number.to_string());
        engine.send("t", record).await.unwrap();
    }
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let start = Instant::now();
    // A token each 20 ms. More handlers than keys that are slowed down are not needed.
    let begun = begins(Consumer::builder(member).concurrency(1).rate(4, millis(80)), 42).await;
    let slow: Vec<_> = [start].into_iter().chain(begun["k0"].iter().copied()).collect();
    // In no span more begin than a full bucket and what fills in it. A span is behind the begin of the record before: a handler
    // may come long after its token is taken, but not after the next one is.
    for (at, first) in slow.iter().enumerate() {
        for (count, last) in (0_u32..).zip(&slow[at..]) {
            assert!(*last - *first >= millis(20) * count.saturating_sub(4), "{slow:?}");
        }
    }
    let others = begun.iter().filter(|(key, _)| *key != "k0");
    let last = others.map(|(_, times)| times[0]).max().unwrap();
    assert!(last < slow[12], "they wait for the slow key: {:?}", last - start);
}

/// A key that comes back does not begin with a full bucket.
#[colored::test]
async fn a_rate_outlives_the_records_of_its_key() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let begun: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let begins = Arc::clone(&begun);
    let builder = Consumer::builder(member).strict(true).rate(1, millis(50));
    let consumer = builder.start(move |_, _| {
        begins.lock().unwrap().push(Instant::now());
        std::future::ready(Ok(()))
    });
    let (consumer, start) = (consumer.unwrap(), Instant::now());
    for number in 0..4 {
        send(&engine, 1, number, number + 1).await;
        assert!(consumer.caught_up().await);
    }
    // A handler may come long after its token is taken.
    let spans: Vec<_> = begun.lock().unwrap().iter().map(|begin| *begin - start).collect();
    assert!((0..).zip(&spans).all(|(n, span)| *span >= millis(50 * n)), "{spans:?}");
    consumer.stop().await.unwrap();
}

#[colored::test]
async fn a_rate_that_lets_nothing_pass_is_refused() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    for (records, time) in [(0, millis(1)), (1, Duration::ZERO)] {
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).rate(records, time);
        let refused = builder.start(|_, _| std::future::ready(Ok(()))).unwrap_err();
        let ConsumerError::Setting(text) = refused else { panic!("{refused}") };
        assert!(text.contains("1 or more records"), "{text}");
    }
}

/// With the order of the partition a batch has whatever records follow each other in it.
#[colored::test]
async fn a_batch_may_be_of_a_partition() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 6, 0, 20).await;
    let (effects, sizes) = (Effects::default(), Arc::new(Mutex::new(Vec::new())));
    let (seen, lengths) = (effects.clone(), Arc::clone(&sizes));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).order(Order::Partition);
    let consumer = builder.start_batches(8, millis(10), move |records, context| {
        assert!(records.windows(2).all(|pair| pair[0].offset + 1 == pair[1].offset));
        lengths.lock().unwrap().push(records.len());
        records.iter().for_each(|record| seen.add(record, context.generation()));
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    effects.assert_once_and_in_order(6, 20);
    let sizes = sizes.lock().unwrap();
    assert!(sizes.len() <= 120 / 8 + 2 && sizes.iter().all(|size| *size <= 8), "{sizes:?}");
}

/// No other record can join the batch of a record without an order: it does not wait for one.
#[colored::test]
async fn a_record_without_an_order_is_a_batch_at_once() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let records = (0..10).map(|_| NewRecord { value: Some("1".into()), ..NewRecord::default() });
    engine.send_all("t", records).await.unwrap();
    let (member, effects) = (engine.member("g", ["t"]).join().await.unwrap(), Effects::default());
    let seen = effects.clone();
    let builder = Consumer::builder(member).strict(true);
    let long = Duration::from_secs(600);
    let consumer = builder.start_batches(5, long, move |records, context| {
        assert_eq!(records.len(), 1);
        seen.add(&records[0], context.generation());
        std::future::ready(Ok(()))
    });
    effects.wait_for(10).await;
    consumer.unwrap().stop().await.unwrap();
}

/// What a batch gives up goes to the dead letters, whatever the rate of its key has left.
#[colored::test]
async fn a_rate_does_not_hold_dead_letters_back() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 8).await;
    let (letters, broken) = (Effects::default(), Mutex::new(true));
    let taken = letters.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).retry(millis(1), millis(1)).attempts(1);
    let builder = builder.rate(8, Duration::from_secs(4_000)).dead_letters(move |letter| {
        let is_broken = std::mem::take(&mut *broken.lock().unwrap());
        if !is_broken {
            taken.add(&letter.record, 0);
        }
        std::future::ready(if is_broken { Err("not now".into()) } else { Ok(()) })
    });
    let consumer = builder.start_batches(8, millis(10), |records, _| {
        assert_eq!(records.len(), 8);
        std::future::ready(Err(Failure::retry("poison")))
    });
    let consumer = consumer.unwrap();
    letters.wait_for(8).await;
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    letters.assert_once_and_in_order(1, 8);
}

/// The attempts of a record are its own.
#[colored::test]
async fn a_record_that_comes_later_does_not_inherit_attempts() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 2).await;
    let calls: Arc<Mutex<Vec<(u64, u32)>>> = Arc::default();
    let called = Arc::clone(&calls);
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).retry(millis(1), millis(1));
    let consumer = builder.start(move |record, context| {
        let mut called = called.lock().unwrap();
        called.push((number(&record), context.attempt()));
        std::future::ready(match called.len() {
            1 | 2 => Err(Failure::retry("not yet")),
            4 => Err(Failure::later(millis(1))),
            _ => Ok(()),
        })
    });
    let consumer = consumer.unwrap();
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    assert_eq!(*calls.lock().unwrap(), [(0, 1), (0, 2), (0, 3), (1, 1), (1, 1)]);
}

/// Records without an order have no rate, not even when they come again.
#[colored::test]
async fn a_record_without_an_order_has_no_rate() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 5).await;
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).order(Order::None);
    let builder = builder.retry(millis(1), millis(1)).rate(1, Duration::from_secs(4_000));
    let consumer = builder.start(|_, context| {
        let is_last = context.attempt() > 2;
        std::future::ready(if is_last { Ok(()) } else { Err(Failure::retry("not yet")) })
    });
    let consumer = consumer.unwrap();
    assert!(timeout(Duration::from_secs(60), consumer.caught_up()).await.unwrap());
    assert_eq!(consumer.metrics().await.slowed, 0);
    consumer.stop().await.unwrap();
}

/// A key that stays because of its rate, or waits because of it, waits for no turn.
#[colored::test]
async fn the_time_without_a_turn_to_wait_for_is_not_counted() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).rate(2, Duration::from_secs(1));
    let consumer = builder.start(|_, _| std::future::ready(Ok(()))).unwrap();
    send(&engine, 1, 0, 1).await;
    assert!(consumer.caught_up().await);
    sleep(millis(400)).await;
    // The second begins at once, and the third half a second after the first.
    send(&engine, 1, 1, 4).await;
    assert!(consumer.caught_up().await);
    let metrics = consumer.metrics().await;
    assert!(metrics.slowed > 0 && metrics.waited < millis(300), "{metrics:?}");
    consumer.stop().await.unwrap();
}
