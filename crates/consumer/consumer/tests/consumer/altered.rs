//! Logs that are not what they were: the whole suite on the engine in memory, and what it leaves open. The suite on the embedded
//! engine, and on engines that lie, is in `tests/simulated/altered.rs`.

use crate::memory::{Lie, Memory};
use crate::support::{metrics_when, millis, until};
use colored_consumer::conformance::alter::{AlterLog, Alteration, Case, check_case};
use colored_consumer::{Consumer, Reset};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

#[colored::test]
async fn nothing_is_skipped_or_repeated_on_a_log_that_is_not_what_it_was() {
    let mut checked = 0;
    for case in Case::all(0) {
        checked += usize::from(check_case(&Memory::new(2, Lie::Nothing), case).await);
    }
    // All but those in which a log becomes shorter while it is read.
    assert_eq!(checked, (12 * 3 - 4) * 3);
}

/// The values that handlers have seen.
type Seen = Arc<Mutex<Vec<String>>>;

fn start(engine: &Memory, reset: Reset) -> (Consumer, Seen) {
    let seen = Seen::default();
    let sees = Arc::clone(&seen);
    let builder = Consumer::builder(engine.member("g")).strict(true).reset(reset);
    let consumer = builder.commit_every(millis(5)).start(move |record, _| {
        let value = record.value.as_deref().unwrap_or_default();
        sees.lock().unwrap().push(String::from_utf8(value.to_vec()).unwrap());
        std::future::ready(Ok(()))
    });
    (consumer.unwrap(), seen)
}

/// Records without a key have no order.
fn sorted(seen: &Seen) -> BTreeSet<String> {
    seen.lock().unwrap().iter().cloned().collect()
}

fn send(engine: &Memory, partition: u32, numbers: std::ops::Range<u32>) {
    numbers.for_each(|number| engine.append(partition, Some(&number.to_string())));
}

/// A topic is made again under a consumer, and its new log is shorter, or longer, than the old place. E3.
#[colored::test]
async fn a_log_that_is_made_again_is_read_from_its_begin() {
    for count in [3, 20] {
        let engine = Memory::new(1, Lie::Nothing);
        send(&engine, 0, 0..10);
        let (consumer, seen) = start(&engine, Reset::Earliest);
        assert!(consumer.caught_up().await);
        engine.alter(Alteration::MakeAgain, true).await;
        send(&engine, 0, 100..100 + count);
        assert!(consumer.caught_up().await);
        let metrics = consumer.metrics().await;
        assert_eq!((metrics.stale, metrics.resets, metrics.partitions[0].lag), (0, 1, 0));
        consumer.stop().await.unwrap();
        let expected = (0..10).chain(100..100 + count).map(|number| number.to_string());
        assert_eq!(sorted(&seen), expected.collect::<BTreeSet<_>>());
        assert_eq!(seen.lock().unwrap().len(), 10 + count as usize);
        assert_eq!(engine.committed("g", 0), Some(count.into()));
    }
}

/// A group that is in the topic begins an added partition at its first record. E28.
#[colored::test]
async fn latest_misses_nothing_of_a_partition_that_is_added() {
    let engine = Memory::new(2, Lie::Nothing);
    send(&engine, 0, 0..5);
    let (consumer, seen) = start(&engine, Reset::Latest);
    assert!(consumer.caught_up().await);
    assert_eq!(seen.lock().unwrap().len(), 0, "the group is new");
    // The quiet partitions have a place too, so that they are not new to the next member.
    until("a place", || [0, 1].map(|of| engine.committed("g", of)) == [Some(5), Some(0)]).await;
    engine.add_partition();
    send(&engine, 2, 10..15);
    assert!(consumer.caught_up().await);
    until("the added partition", || seen.lock().unwrap().len() == 5).await;
    consumer.stop().await.unwrap();
    send(&engine, 1, 20..22);
    let (consumer, seen) = start(&engine, Reset::Latest);
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    assert_eq!(sorted(&seen), ["20", "21"].map(str::to_owned).into());
}

/// A partition that cannot be read is named, delays no other one, and is read when it can be again. E8.
#[colored::test]
async fn a_partition_that_cannot_be_read_is_named_and_delays_no_other() {
    let engine = Memory::new(2, Lie::Nothing);
    engine.set_error(0, Some("a bad sector"));
    send(&engine, 0, 0..3);
    let (consumer, seen) = start(&engine, Reset::Earliest);
    let began = colored::time::Instant::now();
    for number in 100..200 {
        send(&engine, 1, number..number + 1);
        until("an effect", || seen.lock().unwrap().contains(&number.to_string())).await;
    }
    // With a pause of 100 ms for each it would be ten seconds.
    assert!(began.elapsed() < millis(5_000), "{:?}", began.elapsed());
    let metrics = consumer.metrics().await;
    let of = |number| metrics.partitions.iter().find(move |of| of.partition.partition == number);
    let bad = of(0).unwrap();
    assert_eq!(bad.error.as_deref(), Some("a bad sector"));
    assert!(bad.errors >= 1 && metrics.engine_errors < 20 && !metrics.is_caught_up, "{metrics:?}");
    assert_eq!(of(1).unwrap().error, None);
    engine.set_error(0, None);
    assert!(consumer.caught_up().await);
    assert_eq!(consumer.metrics().await.partitions[0].error, None);
    assert_eq!(seen.lock().unwrap().len(), 103);
    consumer.stop().await.unwrap();
}

/// A consumer that stops says that it could not read a partition.
#[colored::test]
async fn a_stop_names_a_partition_that_could_not_be_read() {
    let engine = Memory::new(2, Lie::Nothing);
    engine.set_error(1, Some("a bad sector"));
    let (consumer, _) = start(&engine, Reset::Earliest);
    metrics_when(&consumer, |metrics| metrics.engine_errors > 0).await;
    let error = consumer.stop().await.unwrap_err().to_string();
    assert!(error.contains("t/1 cannot be read: a bad sector"), "{error}");
}

/// It has caught up when all is done that the log had, and not before; when it has ended, it never will have.
#[colored::test]
async fn caught_up_waits_for_what_the_log_has_at_the_call() {
    let engine = Memory::new(2, Lie::Nothing);
    let (consumer, seen) = start(&engine, Reset::Earliest);
    for round in 1..=50 {
        send(&engine, round % 2, 0..3);
        assert!(consumer.caught_up().await);
        assert!(seen.lock().unwrap().len() >= 3 * round as usize, "round {round}");
    }
    assert!(consumer.metrics().await.is_caught_up);
    consumer.stop().await.unwrap();
    let builder = Consumer::builder(engine.member("other")).reset(Reset::Fail);
    let consumer = builder.start(|_, _| std::future::ready(Ok(()))).unwrap();
    assert!(!consumer.caught_up().await, "it ends, as it has no place");
    assert!(consumer.wait().await.is_err());
}
