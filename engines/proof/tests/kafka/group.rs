//! Members come and go.

use crate::support::Topic;
use colored::time::sleep;
use colored_consumer::{Consumer, Source};
use colored_engines_proof::effects::{Effects, millis, owned, run, settle};
use std::collections::BTreeMap;

/// Members join and leave while records come: each record has one effect, in order, and what stays goes on in its
/// generation.
#[colored::test]
async fn planned_hand_overs_repeat_nothing() {
    let Some(topic) = Topic::new("planned", 6) else { return };
    let effects = Effects::default();
    let start =
        async || run(Consumer::builder(topic.member().join().await.unwrap()), &effects, millis(1));
    let first = start().await;
    topic.send(30, 10);
    settle(&[&first], &[6]).await;
    let before = owned(&first).await;
    let second = start().await;
    topic.send(30, 10);
    settle(&[&first, &second], &[3, 3]).await;
    let stayed = owned(&first).await;
    assert!(stayed.iter().all(|(of, generation)| before[of] == *generation), "{stayed:?}");
    let third = start().await;
    topic.send(30, 10);
    settle(&[&first, &second, &third], &[2, 2, 2]).await;
    second.stop().await.unwrap();
    topic.send(30, 10);
    settle(&[&first, &third], &[3, 3]).await;
    first.stop().await.unwrap();
    settle(&[&third], &[6]).await;
    topic.send(30, 10);
    effects.wait_for(30 * 50).await;
    third.stop().await.unwrap();
    effects.assert_once_and_in_order(30, 50);
    assert_eq!(topic.committed(6).iter().sum::<u64>(), 30 * 50);
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    for effect in effects.all() {
        let last = last.entry(effect.partition).or_default();
        assert!(*last <= effect.generation, "{effect:?}");
        *last = effect.generation;
    }
}

/// A member that drains for longer than its session is polled meanwhile, so nobody throws it out; its commit during the
/// rebalance counts.
#[colored::test]
async fn a_drain_may_last_longer_than_the_session() {
    let Some(topic) = Topic::new("drain", 2) else { return };
    let effects = Effects::default();
    let member =
        async || topic.member().session(millis(600)).heartbeat(millis(100)).join().await.unwrap();
    topic.send(4, 1);
    let first =
        run(Consumer::builder(member().await).drain(millis(10_000)), &effects, millis(1_500));
    settle(&[&first], &[2]).await;
    while first.metrics().await.in_flight < 4 {
        sleep(millis(5)).await;
    }
    let second = run(Consumer::builder(member().await), &effects, millis(1));
    settle(&[&first, &second], &[1, 1]).await;
    effects.wait_for(4).await;
    let metrics = first.metrics().await;
    assert_eq!((metrics.aborted, metrics.violations), (0, 0));
    first.stop().await.unwrap();
    second.stop().await.unwrap();
    effects.assert_once_and_in_order(4, 1);
}

/// A static member that comes back in time gets what it had, in a higher generation, and nobody else is disturbed.
#[colored::test]
async fn a_static_member_comes_back_to_its_partitions() {
    let Some(topic) = Topic::new("static", 4) else { return };
    let effects = Effects::default();
    let join = async |name: &str| {
        let member = topic.member().session(millis(10_000)).instance(name);
        run(Consumer::builder(member.join().await.unwrap()), &effects, millis(1))
    };
    let (a, b) = (join("a").await, join("b").await);
    settle(&[&a, &b], &[2, 2]).await;
    topic.send(20, 10);
    effects.wait_for(200).await;
    let (of_a, of_b) = (owned(&a).await, owned(&b).await);
    b.stop().await.unwrap();
    topic.send(20, 10);
    let b = join("b").await;
    settle(&[&a, &b], &[2, 2]).await;
    effects.wait_for(400).await;
    assert_eq!(owned(&a).await, of_a);
    let again = owned(&b).await;
    assert!(again.iter().all(|(of, generation)| of_b[of] < *generation), "{of_b:?}, {again:?}");
    a.stop().await.unwrap();
    b.stop().await.unwrap();
    effects.assert_once_and_in_order(20, 20);
}

#[colored::test]
async fn topics_grow_and_go() {
    let (Some(topic), Some(other)) = (Topic::new("grows", 2), Topic::new("goes", 2)) else {
        return;
    };
    let effects = Effects::default();
    let member = topic.engine().member("g-grows", [&*topic.name, &*other.name]);
    let member = member.session(millis(3_000)).heartbeat(millis(150)).join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects, millis(0));
    settle(&[&consumer], &[4]).await;
    topic.send(10, 10);
    effects.wait_for(100).await;
    colored::block_in_place(|| topic.kafka.grow_topic(&topic.name, 5));
    settle(&[&consumer], &[7]).await;
    colored::block_in_place(|| topic.kafka.delete_topic(&other.name));
    settle(&[&consumer], &[5]).await;
    let left = owned(&consumer).await;
    assert!(left.keys().all(|of| &*of.topic == "grows"), "{left:?}");
    effects.wait_for(100).await;
    consumer.stop().await.unwrap();
}

/// The client waits for its lists when it ends: a member that is dropped in the middle of whatever ends all the same, and
/// leaves its partitions to others at once.
#[colored::test]
async fn a_member_may_be_dropped_at_any_time() {
    use colored_consumer::Room;
    let Some(topic) = Topic::new("dropped", 4) else { return };
    topic.send(10, 10);
    let session = millis(30_000);
    for polls in [0, 1, 2, 4] {
        let mut member = topic.member().session(session).join().await.unwrap();
        for _ in 0..polls {
            let polled = member.poll(Room { records: 5, bytes: 1_000 });
            // In time or not, the member is dropped.
            let _ = colored::time::timeout(millis(300), polled).await;
        }
        drop(member);
    }
    let effects = Effects::default();
    let start = std::time::Instant::now();
    let consumer =
        run(Consumer::builder(topic.member().join().await.unwrap()), &effects, millis(0));
    effects.wait_for(100).await;
    assert!(start.elapsed() < session, "the dropped members have left");
    consumer.stop().await.unwrap();
}
