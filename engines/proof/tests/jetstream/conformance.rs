//! JetStream keeps what every source promises.

use crate::support::Topic;
use colored_consumer::conformance::{Fixture, check_all};
use colored_consumer_jetstream::Member;
use colored_engines_proof::effects::millis;
use colored_engines_proof::suite::TestTopic;

impl Fixture for Topic {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        let member = self.engine.member(group, [&*self.name]);
        member.session(millis(30_000)).join().await.unwrap()
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        // The owner of this engine says what a tombstone is there.
        let value = value.unwrap_or_default().to_owned();
        self.engine.send_to(&self.partition(partition), None, value).await.unwrap();
    }
}

#[colored::test]
async fn jetstream_keeps_the_promises_of_a_source() {
    let Some(topic) = Topic::create("conformance", 2).await else { return };
    check_all(&topic).await;
}
