//! Kafka keeps what every source promises.

use crate::support::Topic;
use colored_consumer::conformance::{Fixture, check_all};
use colored_consumer_kafka::Member;
use colored_engines_proof::effects::millis;
use colored_engines_proof::suite::TestTopic;

struct Group {
    topic: Topic,
    /// What the broker calls the protocol.
    protocol: &'static str,
}

impl Fixture for Group {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        let group = format!("{group}-{}", self.protocol);
        let engine = self.topic.engine().set("group.protocol", self.protocol);
        let member = engine.member(&group, [&*self.topic.name]);
        member.session(millis(30_000)).heartbeat(millis(150)).join().await.unwrap()
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        let place = (&*self.topic.name, partition as i32);
        colored::block_in_place(|| self.topic.kafka.sender().send(place, value));
    }
}

#[colored::test]
async fn the_classic_protocol_keeps_the_promises_of_a_source() {
    let Some(topic) = Topic::create("classic", 2).await else { return };
    check_all(&Group { topic, protocol: "classic" }).await;
}

#[colored::test]
async fn the_protocol_of_kip_848_keeps_the_promises_of_a_source() {
    let Some(topic) = Topic::create("kip848", 2).await else { return };
    check_all(&Group { topic, protocol: "consumer" }).await;
}
