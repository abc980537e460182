//! A server for all tests of this program, and topics of their own.

use colored::time::Duration;
use colored_consumer::TopicPartition;
use colored_consumer_jetstream::{Engine, Member, MemberOptions};
use colored_engines_proof::effects::millis;
use colored_engines_proof::nats::Nats;
use colored_engines_proof::suite::{Numbers, TestTopic};
use std::ops::Range;
use std::sync::OnceLock;

/// A topic of its own.
pub(crate) struct Topic {
    pub(crate) engine: Engine,
    pub(crate) name: String,
    partitions: u32,
    numbers: Numbers,
}

/// The server of all tests, if there is one.
pub(crate) fn nats() -> Option<&'static Nats> {
    static NATS: OnceLock<Option<Nats>> = OnceLock::new();
    colored::block_in_place(|| NATS.get_or_init(Nats::start).as_ref())
}

impl Topic {
    /// A new topic of a server.
    pub(crate) async fn create_at(nats: &Nats, name: &str, partitions: u32) -> Topic {
        let engine = Engine::connect(&nats.url()).await.unwrap();
        engine.create_topic(name, partitions).await.unwrap();
        Topic { engine, name: name.to_owned(), partitions, numbers: Numbers::default() }
    }

    /// Appends records of one key to a partition.
    pub(crate) async fn send_to(&self, partition: u32, numbers: Range<u64>) {
        let (of, key) = (self.partition(partition), format!("k{partition}"));
        for number in numbers {
            self.engine.send_to(&of, Some(key.as_bytes()), number.to_string()).await.unwrap();
        }
    }

    fn group(&self) -> String {
        format!("g-{}", self.name)
    }

    /// A member of the topic's group.
    pub(crate) fn member(&self) -> MemberOptions {
        self.engine.member(&self.group(), [&*self.name]).session(millis(30_000))
    }

    pub(crate) fn partition(&self, partition: u32) -> TopicPartition {
        TopicPartition { topic: (&*self.name).into(), partition }
    }
}

impl TestTopic for Topic {
    type Source = Member;

    async fn create(name: &str, partitions: u32) -> Option<Topic> {
        Some(Topic::create_at(nats()?, name, partitions).await)
    }

    async fn join(&self, session: Duration, instance: Option<&str>) -> Member {
        let mut member = self.member().session(session);
        if let Some(name) = instance {
            member = member.instance(name);
        }
        member.join().await.unwrap()
    }

    async fn send(&self, keys: usize, count: u64) {
        let records = self.numbers.next(keys, count).into_iter();
        let records: Vec<_> = records.map(|(key, value)| (Some(key), value)).collect();
        self.engine.send_all(&self.name, records).await.unwrap();
    }

    async fn committed(&self) -> Vec<u64> {
        let mut all = Vec::new();
        for number in 0..self.partitions {
            let found = self.engine.committed(&self.group(), &self.partition(number)).await;
            all.push(found.unwrap().map_or(0, |of| of.offset));
        }
        all
    }

    async fn ends(&self) -> Vec<u64> {
        let mut all = Vec::new();
        for number in 0..self.partitions {
            all.push(self.engine.end(&self.partition(number)).await.unwrap());
        }
        all
    }
}
