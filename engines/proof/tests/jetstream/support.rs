//! A server for all tests of this program, and topics of their own.

use colored_consumer::TopicPartition;
use colored_consumer_jetstream::{Engine, MemberOptions};
use colored_engines_proof::effects::millis;
use colored_engines_proof::nats::Nats;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// A topic of its own.
pub(crate) struct Topic {
    pub(crate) engine: Engine,
    pub(crate) name: String,
    /// How often each key was sent.
    next: Mutex<BTreeMap<String, u64>>,
}

/// A connection to the server, if there is one.
async fn engine() -> Option<Engine> {
    static NATS: OnceLock<Option<Nats>> = OnceLock::new();
    let nats = colored::block_in_place(|| NATS.get_or_init(Nats::start).as_ref())?;
    Some(Engine::connect(&nats.url()).await.unwrap())
}

impl Topic {
    pub(crate) async fn new(name: &str, partitions: u32) -> Option<Topic> {
        let engine = engine().await?;
        engine.create_topic(name, partitions).await.unwrap();
        Some(Topic { engine, name: name.to_owned(), next: Mutex::default() })
    }

    /// A member of the topic's group.
    pub(crate) fn member(&self) -> MemberOptions {
        self.engine.member(&format!("g-{}", self.name), [&*self.name]).session(millis(3_000))
    }

    pub(crate) fn partition(&self, partition: u32) -> TopicPartition {
        TopicPartition { topic: (&*self.name).into(), partition }
    }

    /// Sends so many records of each key, numbered on.
    pub(crate) async fn send(&self, keys: usize, count: u64) {
        let mut records = Vec::new();
        for _ in 0..count {
            for key in 0..keys {
                let key = format!("k{key}");
                let mut next = self.next.lock().unwrap();
                let number = next.entry(key.clone()).or_default();
                records.push((Some(key), number.to_string()));
                *number += 1;
            }
        }
        self.engine.send_all(&self.name, records).await.unwrap();
    }
}
