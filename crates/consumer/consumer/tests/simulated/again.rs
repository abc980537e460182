//! A topic is deleted while it is written to, and made again at once: nothing of the old one is in the new one. An engine is
//! dropped while it writes, and opened again at once.

use colored::sim::{Builder, random};
use colored::task::yield_now;
use colored::time::{Duration, Instant, sleep};
use colored_consumer::embedded::{Engine, NewRecord, Options};
use colored_consumer::{Consumer, Event, Room, Source, TopicPartition};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Every write begins a segment, and some delete one.
async fn open() -> Engine {
    Options::new().segment_bytes(1).retain_bytes(600).open("/log").await.unwrap()
}

/// Where the topic begins, and the values that it has.
async fn look(engine: &Engine) -> (u64, Vec<String>) {
    let of = TopicPartition { topic: "t".into(), partition: 0 };
    let (start, end) = engine.range(&of).await.unwrap();
    let mut member = engine.member("g", ["t"]).join().await.unwrap();
    let (room, mut values) = (Room { records: 100, bytes: 1 << 20 }, Vec::new());
    while (values.len() as u64) < end - start {
        match member.poll(room).await.unwrap() {
            Event::Assigned(all) => member.begin(&all[0].owned, start),
            Event::Records { records, .. } => {
                let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
                values.extend(records.iter().map(|record| text(record.value.as_ref().unwrap())));
            }
            other => panic!("{other:?}"),
        }
    }
    member.close().await.unwrap();
    (start, values)
}

async fn make_again() {
    let engine = open().await;
    engine.create_topic("t", 1).await.unwrap();
    for round in 0..3 {
        for number in 0..4 {
            let (engine, value) = (engine.clone(), format!("{round}.{number}"));
            // In the old topic, in the new one, or nowhere.
            let _detached = colored::spawn_unique(async move {
                let _ = engine.send("t", NewRecord::new("k", value)).await;
            });
        }
        for _ in 0..random() % 40 {
            yield_now().await;
        }
        engine.delete_topic("t").await.unwrap();
        engine.create_topic("t", 1).await.unwrap();
    }
    // The others, and what they delete.
    sleep(Duration::from_secs(1)).await;
    for number in 0..3 {
        engine.send("t", NewRecord::new("k", format!("new {number}"))).await.unwrap();
    }
    sleep(Duration::from_secs(1)).await;
    let before = look(&engine).await;
    assert_eq!(before.1.last().map(String::as_str), Some("new 2"));
    drop(engine);
    // What the engine still writes.
    sleep(Duration::from_secs(1)).await;
    assert_eq!(look(&open().await).await, before);
}

/// A consumer stays while the topic goes and comes: it handles all records of each topic.
async fn consume_again() {
    let engine = Engine::open("/log").await.unwrap();
    engine.create_topic("t", 1).await.unwrap();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let sees = Arc::clone(&seen);
    let builder = Consumer::builder(member).strict(true).commit_every(Duration::from_millis(1));
    let consumer = builder.start(move |record, _| {
        sees.lock().unwrap().insert(String::from_utf8(record.value.unwrap().to_vec()).unwrap());
        std::future::ready(Ok(()))
    });
    for round in 0..3 {
        for number in 0..5 {
            let value = format!("{round}.{number}");
            engine.send("t", NewRecord::new("k", value)).await.unwrap();
        }
        if round == 2 {
            break;
        }
        // A commit may be due, or under way.
        sleep(Duration::from_millis(random() % 4)).await;
        for _ in 0..random() % 40 {
            yield_now().await;
        }
        engine.delete_topic("t").await.unwrap();
        engine.create_topic("t", 1).await.unwrap();
    }
    let start = Instant::now();
    while !(0..5).all(|number| seen.lock().unwrap().contains(&format!("2.{number}"))) {
        assert!(start.elapsed() < Duration::from_secs(60), "records have no effect");
        sleep(Duration::from_millis(5)).await;
    }
    consumer.unwrap().stop().await.unwrap();
}

#[test]
fn a_topic_that_is_made_again_is_handled_whole() {
    Builder::new().seeds(crate::seeds(300, 1_000)).run(consume_again).assert_passed();
}

#[test]
fn a_topic_that_is_made_again_meets_no_write_of_the_old_one() {
    Builder::new().seeds(crate::seeds(300, 1_000)).run(make_again).assert_passed();
}

/// What a dropped engine still writes is written when the next one opens.
async fn open_again() {
    let mut engine = open().await;
    engine.create_topic("t", 1).await.unwrap();
    for round in 0..3 {
        let own = engine.clone();
        let sends = colored::spawn_unique(async move {
            let _ = own.send("t", NewRecord::new("k", format!("{round}"))).await;
        });
        for _ in 0..random() % 20 {
            yield_now().await;
        }
        sends.abort();
        // It may be done.
        let _ = sends.await;
        drop(engine);
        engine = open().await;
        engine.send("t", NewRecord::new("k", format!("after {round}"))).await.unwrap();
    }
    let refused = Engine::open("/log").await.unwrap_err().to_string();
    assert!(refused.contains("another engine"), "{refused}");
    let before = look(&engine).await;
    assert_eq!(before.1.last().map(String::as_str), Some("after 2"));
    drop(engine);
    assert_eq!(look(&open().await).await, before);
}

#[test]
fn an_engine_that_is_opened_again_meets_no_write_of_the_old_one() {
    Builder::new().seeds(crate::seeds(300, 1_000)).run(open_again).assert_passed();
}
