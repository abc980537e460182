//! A dry run: what it says of order and skew, and what it leaves alone.

use crate::support::{Scratch, engine, millis, number, partition, send};
use colored::time::sleep;
use colored_consumer::embedded::{Engine, NewRecord};
use colored_consumer::{Builder, Consumer, ConsumerError, Order};
use std::time::SystemTime;

async fn builder(engine: &Engine, group: &str) -> Builder<colored_consumer::embedded::Member> {
    Consumer::builder(engine.member(group, ["t"]).join().await.unwrap())
}

#[colored::test]
async fn a_dry_run_tells_order_and_skew_and_changes_nothing() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 3).await;
    send(&engine, 10, 0, 20).await;
    let hot = |number: u64| NewRecord::new("hot", number.to_string());
    engine.send_all("t", (0..200).map(hot)).await.unwrap();
    let without = NewRecord { value: Some("7".into()), ..NewRecord::default() };
    engine.send("t", without).await.unwrap();
    // A key that is in two partitions.
    for to in 0..2 {
        engine.send_to("t", to, NewRecord::new("split", "1")).await.unwrap();
    }
    let survey = builder(&engine, "dry").await.dry_run().await.unwrap();
    assert_eq!((survey.records, survey.unordered, survey.keys), (403, 1, 12));
    assert_eq!((survey.split_keys, survey.uncounted, survey.backwards), (1, 0, 0));
    assert_eq!(survey.partitions.iter().map(|of| of.records).sum::<u64>(), 403);
    assert_eq!(survey.partitions.iter().map(|of| of.keys).sum::<u64>(), 13);
    let [hottest, second, ..] = &survey.hottest[..] else { panic!("{survey:?}") };
    assert_eq!((&hottest.key[..], hottest.records, second.records), (&b"hot"[..], 200, 20));
    assert_eq!(survey.hottest.len(), 10);
    // The hot key alone takes half of the time, however many handlers there are.
    assert!((survey.speedup(256) - 403.0 / 200.0).abs() < 1e-9);
    assert!((survey.speedup(1) - 1.0).abs() < 1e-9);
    assert!(survey.skew() > 1.4, "{}", survey.skew());
    let text = survey.to_string();
    assert!(text.contains("key \"hot\" of t/") && text.contains("200 records, 49.6 %"), "{text}");
    for n in 0..3 {
        assert_eq!(engine.committed("dry", &partition(n)).await, None, "nothing is committed");
    }
    // It has left its group: the next one gets all partitions again.
    let again = builder(&engine, "dry").await.dry_run().await.unwrap();
    assert_eq!(again, survey);
}

#[colored::test]
async fn a_dry_run_goes_by_the_settings() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 10, 0, 10).await;
    sleep(millis(5)).await;
    let middle = SystemTime::now();
    sleep(millis(5)).await;
    send(&engine, 10, 10, 15).await;
    let by_parity = builder(&engine, "a").await.key(|record| {
        Some(if number(record).is_multiple_of(2) { "even".into() } else { "odd".into() })
    });
    let survey = by_parity.dry_run().await.unwrap();
    assert_eq!((survey.keys, survey.split_keys), (2, 2), "both are in both partitions");
    let by_partition = builder(&engine, "b").await.order(Order::Partition);
    let survey = by_partition.dry_run().await.unwrap();
    let longest = survey.partitions.iter().map(|of| of.records).max().unwrap();
    assert_eq!((survey.hottest[0].records, survey.split_keys), (longest, 0));
    let unordered = builder(&engine, "c").await.order(Order::None).dry_run().await.unwrap();
    assert_eq!((unordered.unordered, unordered.keys, unordered.hottest.len()), (150, 0, 0));
    assert!((unordered.speedup(50) - 50.0).abs() < 1e-9);
    let now = SystemTime::now();
    let late = builder(&engine, "d").await.replay(middle..now).dry_run().await.unwrap();
    assert_eq!((late.records, late.hottest[0].records), (50, 5));
    let bad = builder(&engine, "e").await.concurrency(0).dry_run().await.unwrap_err();
    assert!(matches!(bad, ConsumerError::Setting(_)), "{bad}");
}

/// It would say less than there is.
#[colored::test]
async fn a_dry_run_needs_a_group_of_its_own() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 10, 0, 10).await;
    let running = builder(&engine, "g").await.dry_run();
    let joins = async {
        sleep(millis(200)).await;
        engine.member("g", ["t"]).join().await.unwrap()
    };
    let (surveyed, member) = colored::join!(running, joins);
    drop(member);
    let refused = surveyed.unwrap_err().to_string();
    assert!(refused.contains("a group of its own"), "{refused}");
}

#[colored::test]
async fn a_topic_without_records_has_an_empty_survey() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    let survey = builder(&engine, "g").await.dry_run().await.unwrap();
    assert_eq!((survey.records, survey.partitions.len()), (0, 2));
    assert_eq!((survey.speedup(8), survey.skew()), (0.0, 0.0));
}
