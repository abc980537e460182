//! A broker for all tests of this program, and topics of their own.

use colored::time::Duration;
use colored_consumer_kafka::{Engine, Member, MemberOptions};
use colored_engines_proof::effects::millis;
use colored_engines_proof::kafka::Kafka;
use colored_engines_proof::suite::{Numbers, TestTopic};
use std::sync::OnceLock;

/// The broker, if there is one.
fn kafka() -> Option<&'static Kafka> {
    static KAFKA: OnceLock<Option<Kafka>> = OnceLock::new();
    colored::block_in_place(|| KAFKA.get_or_init(Kafka::start).as_ref())
}

/// A topic of its own.
pub(crate) struct Topic {
    pub(crate) kafka: &'static Kafka,
    pub(crate) name: String,
    partitions: u32,
    numbers: Numbers,
}

impl Topic {
    pub(crate) fn engine(&self) -> Engine {
        Engine::new(&self.kafka.url()).set("topic.metadata.refresh.interval.ms", "500")
    }

    fn group(&self) -> String {
        format!("g-{}", self.name)
    }

    /// A member of the topic's group, which hears of a rebalance soon.
    pub(crate) fn member(&self) -> MemberOptions {
        let member = self.engine().member(&self.group(), [&*self.name]);
        member.session(millis(30_000)).heartbeat(millis(150))
    }
}

impl TestTopic for Topic {
    type Source = Member;

    async fn create(name: &str, partitions: u32) -> Option<Topic> {
        let kafka = kafka()?;
        colored::block_in_place(|| kafka.create_topic(name, partitions));
        Some(Topic { kafka, name: name.to_owned(), partitions, numbers: Numbers::default() })
    }

    async fn join(&self, session: Duration, instance: Option<&str>) -> Member {
        // The heartbeats come from a thread of the client: only this says that the member must be polled.
        let polled = session.as_millis().to_string();
        let engine = self.engine().set("max.poll.interval.ms", polled);
        let mut member = engine.member(&self.group(), [&*self.name]);
        if let Some(name) = instance {
            member = member.instance(name);
        }
        member.session(session).heartbeat(millis(150)).join().await.unwrap()
    }

    async fn send(&self, keys: usize, count: u64) {
        let records = self.numbers.next(keys, count).into_iter();
        let records: Vec<_> = records.map(|(key, value)| (Some(key), value, None)).collect();
        colored::block_in_place(|| self.kafka.send(&self.name, &records));
    }

    async fn committed(&self) -> Vec<u64> {
        let (group, partitions) = (self.group(), self.partitions);
        colored::block_in_place(|| self.kafka.committed(&group, &self.name, partitions))
    }

    async fn ends(&self) -> Vec<u64> {
        colored::block_in_place(|| self.kafka.ends(&self.name, self.partitions))
    }
}
