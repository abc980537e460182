//! Kafka.

use crate::plan::{self, Engine, PARTITIONS};
use colored_engines_proof::kafka::Kafka;
use std::collections::HashSet;

impl Engine for Kafka {
    const NAME: &str = "kafka";
    const NUMBERS_TOGETHER: bool = false;

    fn url(&self) -> String {
        Kafka::url(self)
    }

    fn create_topic(&self, topic: &str) {
        Kafka::create_topic(self, topic, PARTITIONS);
    }

    fn send(&self, topic: &str, records: &[(String, u64)]) {
        let record = |(key, number): &(String, u64)| (Some(key.clone()), number.to_string(), None);
        Kafka::send(self, topic, &records.iter().map(record).collect::<Vec<_>>());
    }

    fn committed(&self, topic: &str) -> Vec<u64> {
        Kafka::committed(self, &format!("g-{topic}"), topic, PARTITIONS)
    }

    fn ends(&self, topic: &str) -> Vec<u64> {
        Kafka::ends(self, topic, PARTITIONS)
    }

    fn places(&self, _: &str, from: &[u64], to: &[u64]) -> HashSet<(usize, u64)> {
        let all = from.iter().zip(to).enumerate();
        all.flat_map(|(at, (from, to))| (*from..*to).map(move |offset| (at, offset))).collect()
    }

    fn restart(&mut self) {
        Kafka::restart(self);
    }
}

/// One test: the broker is restarted.
#[test]
fn kafka() {
    let Some(mut kafka) = Kafka::start() else { return };
    plan::poison_stops_only_itself(&mut kafka);
    plan::a_commit_on_receipt_is_found(&mut kafka);
    plan::a_missing_drain_is_found(&mut kafka);
    plan::kills_lose_nothing(&mut kafka);
}
