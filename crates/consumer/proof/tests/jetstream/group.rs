//! Topics come and go.

use crate::support::Topic;
use colored_consumer::Consumer;
use colored_engines_proof::effects::{Effects, millis, run, settle};
use colored_engines_proof::suite::TestTopic;

/// All of its partitions fail until the member notices, with a long session only after seconds: that ends nothing.
#[colored::test]
async fn a_deleted_topic_is_lost_and_others_go_on() {
    let (Some(topic), Some(other)) =
        (Topic::create("stays", 2).await, Topic::create("goes", 12).await)
    else {
        return;
    };
    let effects = Effects::default();
    let member = topic.engine.member("g-stays", [&*topic.name, &*other.name]);
    let member = member.session(millis(30_000)).join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects, millis(0));
    settle(&[&consumer], &[14]).await;
    topic.send(10, 10).await;
    effects.wait_for(100).await;
    topic.engine.delete_topic("goes").await.unwrap();
    settle(&[&consumer], &[2]).await;
    topic.send(10, 10).await;
    effects.wait_for(200).await;
    consumer.stop().await.unwrap();
}
