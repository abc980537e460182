//! A broker for all tests of this program, and topics of their own.

use colored_consumer_kafka::{Engine, MemberOptions};
use colored_engines_proof::effects::millis;
use colored_engines_proof::kafka::Kafka;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

pub(crate) const GROUP: &str = "g";

/// The broker, if there is one.
pub(crate) fn kafka() -> Option<&'static Kafka> {
    static KAFKA: OnceLock<Option<Kafka>> = OnceLock::new();
    colored::block_in_place(|| KAFKA.get_or_init(Kafka::start).as_ref())
}

/// A topic of its own.
pub(crate) struct Topic {
    pub(crate) kafka: &'static Kafka,
    pub(crate) name: String,
    /// How often each key was sent.
    next: Mutex<BTreeMap<String, u64>>,
}

impl Topic {
    pub(crate) fn new(name: &str, partitions: u32) -> Option<Topic> {
        let kafka = kafka()?;
        colored::block_in_place(|| kafka.create_topic(name, partitions));
        Some(Topic { kafka, name: name.to_owned(), next: Mutex::default() })
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::new(&self.kafka.url()).set("topic.metadata.refresh.interval.ms", "500")
    }

    /// A member of the topic's group, which hears of a rebalance soon.
    pub(crate) fn member(&self) -> MemberOptions {
        let group = format!("{GROUP}-{}", self.name);
        let member = self.engine().member(&group, [&*self.name]);
        member.session(millis(15_000)).heartbeat(millis(150))
    }

    /// Sends so many records of each key, numbered on.
    pub(crate) fn send(&self, keys: usize, count: u64) {
        let mut records = Vec::new();
        let mut next = self.next.lock().unwrap();
        for _ in 0..count {
            for key in 0..keys {
                let key = format!("k{key}");
                let number = next.entry(key.clone()).or_default();
                records.push((Some(key), number.to_string(), None));
                *number += 1;
            }
        }
        colored::block_in_place(|| self.kafka.send(&self.name, &records));
    }

    pub(crate) fn committed(&self, partitions: u32) -> Vec<u64> {
        let group = format!("{GROUP}-{}", self.name);
        colored::block_in_place(|| self.kafka.committed(&group, &self.name, partitions))
    }
}
