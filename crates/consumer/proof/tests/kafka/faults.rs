//! Bad input.

use crate::support::Topic;
use colored::time::{Duration, timeout};
use colored_consumer::{Consumer, Event, Room, Source};
use colored_engines_proof::effects::millis;
use colored_engines_proof::suite::{TestTopic, until};
use std::sync::{Arc, Mutex};

#[colored::test]
async fn an_unknown_topic_is_named() {
    let Some(topic) = Topic::create("known", 1).await else { return };
    let joined = topic.engine().member("g", ["unknown"]).join().await;
    let error = joined.expect_err("there is no such topic").to_string();
    assert!(error.contains("\"unknown\""), "{error}");
}

#[colored::test]
async fn what_cannot_be_is_named() {
    let fault = async |member: colored_consumer_kafka::MemberOptions| {
        member.join().await.expect_err("it cannot be").to_string()
    };
    let engine = colored_consumer_kafka::Engine::new("127.0.0.1:1").set("log_level", "0");
    let below = engine.member("g", ["t"]).session(millis(1_000)).heartbeat(millis(1_000));
    assert!(fault(below).await.contains("a heartbeat of 1s with a session of 1s"));
    assert!(fault(engine.member("g", [""; 0])).await.contains("no topic"));
    let own = engine.clone().set("enable.auto.commit", "true").member("g", ["t"]);
    assert!(fault(own).await.contains("enable.auto.commit"));
    let range = engine.set("partition.assignment.strategy", "range").member("g", ["t"]);
    assert!(fault(range).await.contains("cooperative-sticky"));
}

#[colored::test]
async fn a_broker_that_is_not_there_is_an_error() {
    let engine = colored_consumer_kafka::Engine::new("127.0.0.1:1").set("log_level", "0");
    let error = engine.member("g", ["t"]).join().await.expect_err("nobody is there").to_string();
    assert!(error.contains("no broker answers"), "{error}");
}

/// Retention overtakes a member: it is told, and goes on where the log begins.
#[colored::test]
async fn an_offset_out_of_range_is_told() {
    let Some(topic) = Topic::create("retention", 1).await else { return };
    topic.send(1, 20).await;
    let mut member = topic.member().join().await.unwrap();
    let room = Room { records: 100, bytes: 1 << 20 };
    let Ok(Event::Assigned(assigned)) = member.poll(room).await else { panic!("no partition") };
    colored::block_in_place(|| topic.kafka.delete_records(&topic.name, 0, 5));
    let owned = assigned[0].owned.clone();
    member.begin(&owned, 0);
    let event = timeout(Duration::from_secs(30), member.poll(room)).await.expect("an event");
    match event {
        Ok(Event::OutOfRange { owned: of, log }) => {
            assert_eq!((of, log.start, log.end), (owned.clone(), 5, 20));
        }
        other => panic!("{other:?}"),
    }
    member.begin(&owned, 5);
    let event = timeout(Duration::from_secs(30), member.poll(room)).await.expect("an event");
    let Ok(Event::Records { records, .. }) = event else { panic!("{event:?}") };
    assert_eq!(records[0].offset, 5);
    member.close().await.unwrap();
}

/// A key may be any text, and a record may have none: such records have no order, and are done.
#[colored::test]
async fn keys_come_back() {
    let Some(topic) = Topic::create("keys", 3).await else { return };
    let keys = [Some("a.b*c>d e"), Some(""), Some("\u{e9}"), None, None];
    let records: Vec<_> =
        keys.iter().map(|key| (key.map(str::to_owned), "v".to_owned(), None)).collect();
    colored::block_in_place(|| topic.kafka.send(&topic.name, &records));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let consumer =
        Consumer::builder(topic.member().join().await.unwrap()).start(move |record, _| {
            sees.lock().unwrap().push(record.key);
            std::future::ready(Ok(()))
        });
    let consumer = consumer.unwrap();
    until("all", async || consumer.metrics().await.done == keys.len() as u64).await;
    consumer.stop().await.unwrap();
    let mut seen = seen.lock().unwrap().clone();
    let mut sent: Vec<_> =
        keys.iter().map(|key| key.map(|key| key.as_bytes().to_vec().into())).collect();
    seen.sort();
    sent.sort();
    assert_eq!(seen, sent);
}

/// A record without a value is a tombstone, and not one with an empty value. Headers likewise.
#[colored::test]
async fn what_is_missing_is_not_empty() {
    let Some(topic) = Topic::create("missing", 1).await else { return };
    let headers = [("a", None), ("b", Some("")), ("a", Some("1"))];
    colored::block_in_place(|| {
        let place = ("missing", 0);
        topic.kafka.send_record(place, Some("k"), None, &headers);
        topic.kafka.send_record(place, Some(""), Some(""), &[]);
        topic.kafka.send_record(place, None, Some("v"), &[]);
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let builder = Consumer::builder(topic.member().join().await.unwrap());
    // The records without a key have no order.
    let consumer = builder.order(colored_consumer::Order::Partition).start(move |record, _| {
        sees.lock().unwrap().push((record.key, record.value, record.headers));
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    until("all", async || consumer.metrics().await.done == 3).await;
    consumer.stop().await.unwrap();
    let headers =
        headers.map(|(name, value)| (name.to_owned(), value.map(|value: &str| value.into())));
    let expected = [
        (Some("k".into()), None, headers.to_vec()),
        (Some("".into()), Some("".into()), Vec::new()),
        (None, Some("v".into()), Vec::new()),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}
