//! Bad input.

use crate::support::Topic;
use colored::sync::Semaphore;
use colored::time::Duration;
use colored_consumer::{Consumer, Event, Room, Source};
use colored_engines_proof::effects::{Effects, millis, run};
use colored_engines_proof::suite::{TestTopic, until};
use std::sync::Arc;

#[colored::test]
async fn what_cannot_be_is_named() {
    let Some(topic) = Topic::create("known", 1).await else { return };
    let fault = async |options: colored_consumer_jetstream::MemberOptions| {
        options.join().await.expect_err("it cannot be").to_string()
    };
    let engine = &topic.engine;
    assert!(fault(engine.member("g", ["unknown"])).await.contains("\"unknown\""));
    assert!(fault(engine.member("g", [""; 0])).await.contains("no topic"));
    assert!(fault(engine.member("a.b", ["known"])).await.contains("\"a.b\""));
    for session in [millis(1), Duration::MAX] {
        let text = fault(engine.member("g", ["known"]).session(session)).await;
        assert!(text.contains(&format!("a session of {session:?}: 300 ms to a day")), "{text}");
    }
    let grown = engine.create_topic("known", 2).await.expect_err("it cannot grow").to_string();
    assert!(grown.contains("has 1 partitions"), "{grown}");
}

#[colored::test]
async fn a_server_that_is_not_there_is_an_error() {
    let error = colored_consumer_jetstream::Engine::connect("127.0.0.1:1").await;
    let error = error.expect_err("nobody is there").to_string();
    assert!(error.contains("no server answers"), "{error}");
}

/// Every byte may be in a key, and a record may have none.
#[colored::test]
async fn keys_come_back() {
    let Some(topic) = Topic::create("keys", 3).await else { return };
    let keys = [Some(&b"a.b*c>d e"[..]), Some(b""), Some(b"\xff\0"), None];
    for key in keys {
        topic.engine.send("keys", key, "v").await.unwrap();
    }
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let member = topic.member().join().await.unwrap();
    let consumer = Consumer::builder(member).start(move |record, _| {
        sees.lock().unwrap().push(record.key);
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    until("all", async || consumer.metrics().await.done == 4).await;
    consumer.stop().await.unwrap();
    let seen = seen.lock().unwrap();
    for key in keys {
        assert!(seen.iter().any(|seen| seen.as_deref() == key), "{key:?} of {seen:?}");
    }
}

/// A stuck record, and the others of its partition go on up to the bound of the distance. The stream numbers the records of
/// all partitions together; the records of other partitions do not count.
#[colored::test]
async fn the_distance_counts_the_records_of_the_partition() {
    let Some(topic) = Topic::create("distance", 8).await else { return };
    topic.engine.send_to(&topic.partition(0), Some(b"stuck"), "0").await.unwrap();
    for round in 0..50 {
        for partition in 0..8 {
            let of = topic.partition(partition);
            topic.engine.send_to(&of, Some(b"free"), round.to_string()).await.unwrap();
        }
    }
    let (effects, gate) = (Effects::default(), Arc::new(Semaphore::new(0)));
    let (seen, entered) = (effects.clone(), Arc::clone(&gate));
    let member = topic.member().join().await.unwrap();
    let consumer =
        Consumer::builder(member).strict(true).distance(100).start(move |record, context| {
            let (seen, entered) = (seen.clone(), Arc::clone(&entered));
            async move {
                if record.key.as_deref() == Some(b"stuck") {
                    drop(entered.acquire().await.map_err(std::io::Error::other)?);
                }
                seen.add(&record, context.generation());
                Ok(())
            }
        });
    effects.wait_for(8 * 50).await;
    gate.add_permits(1);
    effects.wait_for(8 * 50 + 1).await;
    consumer.unwrap().stop().await.unwrap();
}

/// A member whose place is no longer in the stream is told.
#[colored::test]
async fn an_offset_out_of_range_is_told() {
    let Some(topic) = Topic::create("retention", 1).await else { return };
    topic.send(1, 20).await;
    topic.engine.delete_before("retention", 6).await.unwrap();
    let room = Room { records: 100, bytes: 1 << 20 };
    let mut member = topic.member().join().await.unwrap();
    let Ok(Event::Assigned(assigned)) = member.poll(room).await else { panic!("no partition") };
    let owned = assigned[0].owned.clone();
    assert_eq!((assigned[0].log.start, assigned[0].log.end), (6, 21));
    member.begin(&owned, 3);
    let Ok(Event::OutOfRange { log, .. }) = member.poll(room).await else { panic!("3 is gone") };
    assert_eq!(log.start, 6);
    member.begin(&owned, 6);
    let Ok(Event::Records { records, .. }) = member.poll(room).await else { panic!("no records") };
    assert_eq!(records[0].offset, 6);
    member.close().await.unwrap();
    let effects = Effects::default();
    let member = topic.member().join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects, millis(0));
    effects.wait_for(15).await;
    consumer.stop().await.unwrap();
}
