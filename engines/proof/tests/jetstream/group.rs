//! Members come and go.

use crate::support::Topic;
use colored_consumer::Consumer;
use colored_engines_proof::effects::{Effects, millis, owned, run, settle};
use std::collections::BTreeMap;

/// Members join and leave while records come: each record has one effect, in order, and what stays goes on in its
/// generation.
#[colored::test]
async fn planned_hand_overs_repeat_nothing() {
    let Some(topic) = Topic::new("planned", 6).await else { return };
    let effects = Effects::default();
    let start = async || {
        let member = topic.member().join().await.unwrap();
        run(Consumer::builder(member), &effects, millis(1))
    };
    let first = start().await;
    topic.send(30, 10).await;
    settle(&[&first], &[6]).await;
    let before = owned(&first).await;
    let second = start().await;
    topic.send(30, 10).await;
    settle(&[&first, &second], &[3, 3]).await;
    let stayed = owned(&first).await;
    assert!(stayed.iter().all(|(of, generation)| before[of] == *generation), "{stayed:?}");
    let third = start().await;
    topic.send(30, 10).await;
    settle(&[&first, &second, &third], &[2, 2, 2]).await;
    second.stop().await.unwrap();
    topic.send(30, 10).await;
    settle(&[&first, &third], &[3, 3]).await;
    first.stop().await.unwrap();
    settle(&[&third], &[6]).await;
    topic.send(30, 10).await;
    effects.wait_for(30 * 50).await;
    third.stop().await.unwrap();
    effects.assert_once_and_in_order(30, 50);
    for partition in 0..6 {
        let of = topic.partition(partition);
        let committed = topic.engine.committed("g-planned", &of).await.unwrap();
        assert_eq!(committed.map(|of| of.offset), Some(topic.engine.end(&of).await.unwrap()));
    }
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    for effect in effects.all() {
        let last = last.entry(effect.partition).or_default();
        assert!(*last <= effect.generation, "{effect:?}");
        *last = effect.generation;
    }
}

/// A member that is dropped leaves at once.
#[colored::test]
async fn a_dropped_member_leaves_its_partitions_at_once() {
    let Some(topic) = Topic::new("dropped", 4).await else { return };
    topic.send(10, 10).await;
    let session = millis(60_000);
    let effects = Effects::default();
    let start = std::time::Instant::now();
    drop(topic.member().session(session).join().await.unwrap());
    let member = topic.member().join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects, millis(0));
    effects.wait_for(100).await;
    assert!(start.elapsed() < session);
    consumer.stop().await.unwrap();
}

/// A static member that comes back in time gets what it had, in a higher generation, and nobody else is disturbed.
#[colored::test]
async fn a_static_member_comes_back_to_its_partitions() {
    let Some(topic) = Topic::new("static", 4).await else { return };
    let effects = Effects::default();
    let join = async |name: &str| {
        let member = topic.member().session(millis(10_000)).instance(name);
        run(Consumer::builder(member.join().await.unwrap()), &effects, millis(1))
    };
    let (a, b) = (join("a").await, join("b").await);
    settle(&[&a, &b], &[2, 2]).await;
    topic.send(20, 10).await;
    effects.wait_for(200).await;
    let (of_a, of_b) = (owned(&a).await, owned(&b).await);
    b.stop().await.unwrap();
    topic.send(20, 10).await;
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
async fn a_deleted_topic_is_lost_and_others_go_on() {
    let (Some(topic), Some(other)) = (Topic::new("stays", 2).await, Topic::new("goes", 2).await)
    else {
        return;
    };
    let effects = Effects::default();
    let member = topic.engine.member("g-stays", [&*topic.name, &*other.name]);
    let member = member.session(millis(3_000)).join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects, millis(0));
    settle(&[&consumer], &[4]).await;
    topic.send(10, 10).await;
    effects.wait_for(100).await;
    topic.engine.delete_topic("goes").await.unwrap();
    settle(&[&consumer], &[2]).await;
    topic.send(10, 10).await;
    effects.wait_for(200).await;
    consumer.stop().await.unwrap();
}
