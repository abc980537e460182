//! Topics come and go.

use crate::support::Topic;
use colored_consumer::Consumer;
use colored_engines_proof::effects::{Effects, millis, owned, run, settle};
use colored_engines_proof::suite::TestTopic;

#[colored::test]
async fn topics_grow_and_go() {
    let (Some(topic), Some(other)) =
        (Topic::create("grows", 2).await, Topic::create("goes", 2).await)
    else {
        return;
    };
    let effects = Effects::default();
    let member = topic.engine().member("g-grows", [&*topic.name, &*other.name]);
    let member = member.session(millis(30_000)).heartbeat(millis(150)).join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects, millis(0));
    settle(&[&consumer], &[4]).await;
    topic.send(10, 10).await;
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
