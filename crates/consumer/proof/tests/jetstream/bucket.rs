//! The bucket of a group is not what it was: its partitions go on, and no generation comes twice.

use crate::support::{Topic, nats};
use colored::block_in_place;
use colored::time::{Duration, Instant, sleep};
use colored_consumer::{Consumer, Event, Reset, Room, Source};
use colored_engines_proof::effects::{Effects, millis, owned, run, settle};
use colored_engines_proof::nats::Nats;
use colored_engines_proof::suite::TestTopic;

/// A member that writes its entry often.
async fn start(topic: &Topic, effects: &Effects) -> Consumer {
    let member = topic.member().session(millis(2_000)).join().await.unwrap();
    run(
        Consumer::builder(member).reset(Reset::Earliest).commit_every(millis(10)),
        effects,
        millis(0),
    )
}

async fn generations(consumer: &Consumer) -> Vec<u64> {
    owned(consumer).await.into_values().collect()
}

/// Waits until the consumer owns its partitions in higher generations.
async fn assert_higher(consumer: &Consumer, before: &[u64]) -> Vec<u64> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let now = generations(consumer).await;
        if now.len() == before.len() && now.iter().zip(before).all(|(now, before)| now > before) {
            return now;
        }
        assert!(Instant::now() < end, "{now:?} after {before:?}");
        sleep(millis(20)).await;
    }
}

/// An older copy is brought back, the bucket is emptied, and made again, each while a member runs and has no more than its
/// session to notice: its partitions come back to it in higher generations, and their records are handled.
#[colored::test]
async fn a_bucket_that_has_forgotten_lets_no_generation_fall() {
    let Some(mut nats) = block_in_place(Nats::start) else { return };
    let (topic, bucket) = (Topic::create_at(&nats, "bucket", 2).await, "KV_colored-g-bucket");
    let effects = Effects::default();
    let first = start(&topic, &effects).await;
    settle(&[&first], &[2]).await;
    topic.send_to(0, 0..5).await;
    effects.wait_for(5).await;
    let mut before = generations(&first).await;
    first.stop().await.unwrap();
    let copy = block_in_place(|| nats.copy(&[bucket]));
    let consumer = start(&topic, &effects).await;
    before = assert_higher(&consumer, &before).await;
    topic.send_to(0, 5..10).await;
    effects.wait_for(10).await;
    while topic.committed().await[0] < 11 {
        sleep(millis(10)).await;
    }
    block_in_place(|| nats.bring_back(&copy));
    before = assert_higher(&consumer, &before).await;
    topic.send_to(0, 10..15).await;
    // What the older copy does not know comes again.
    effects.wait_for(20).await;
    block_in_place(|| nats.purge(bucket, ">"));
    before = assert_higher(&consumer, &before).await;
    topic.send_to(0, 15..20).await;
    effects.wait_for(40).await;
    consumer.stop().await.unwrap();
    block_in_place(|| nats.delete_stream(bucket));
    let last = start(&topic, &effects).await;
    assert_higher(&last, &before).await;
    effects.wait_for(60).await;
    last.stop().await.unwrap();
}

/// Of a partition whose lease names a time that cannot be, nothing can be known: a member with a share of one takes another.
#[colored::test]
async fn a_partition_that_cannot_be_taken_keeps_nothing_waiting() {
    let Some(nats) = nats() else { return };
    let topic = Topic::create_at(nats, "bad", 3).await;
    topic.send_to(0, 0..3).await;
    // It makes the bucket.
    topic.member().join().await.unwrap().close().await.unwrap();
    block_in_place(|| {
        nats.delete_message("bad", 2);
        let time = 10_i128.pow(30);
        nats.publish("$KV.colored-g-bad.lease.bad.0", &format!(",5,,,7,2,{time},0\n"));
        nats.publish("$KV.colored-g-bad.member.older", "1,token,bad");
    });
    let mut member = topic.member().join().await.unwrap();
    let event = member.poll(Room { records: 1, bytes: 1 }).await.unwrap();
    let Event::Assigned(all) = event else { panic!("{event:?}") };
    let all: Vec<_> = all.iter().map(|of| of.owned.partition.partition).collect();
    assert!(matches!(all[..], [1 | 2]), "{all:?}");
    member.close().await.unwrap();
}
