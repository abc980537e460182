//! What groups have committed.

use super::{Kafka, WAIT, wait};
use rdkafka::admin::AdminOptions;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{Offset, TopicPartitionList};
use std::time::{Duration, Instant};

impl Kafka {
    /// Deletes a group that has no members, with its offsets.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn delete_group(&self, group: &str) {
        let admin = self.admin();
        let deleted = wait(admin.delete_groups(&[group], &AdminOptions::new()));
        deleted.expect("the broker answers").remove(0).expect("a group is deleted");
    }

    /// What a group has committed in each partition, 0 if nothing.
    ///
    /// # Panics
    ///
    /// If the broker does not answer.
    #[must_use]
    pub fn committed(&self, group: &str, topic: &str, partitions: u32) -> Vec<u64> {
        let mut config = self.config();
        let client: BaseConsumer = config.set("group.id", group).create().expect("a client");
        let mut list = TopicPartitionList::new();
        for partition in 0..i32::try_from(partitions).expect("a number of partitions") {
            list.add_partition(topic, partition);
        }
        let end = Instant::now() + WAIT;
        let found = loop {
            // A broker that has just started does not know the group yet.
            match client.committed_offsets(list.clone(), WAIT) {
                Ok(found) => break found,
                Err(error) => assert!(Instant::now() < end, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        let offset = |offset| match offset {
            Offset::Offset(offset) => u64::try_from(offset).unwrap_or(0),
            _ => 0,
        };
        found.elements().iter().map(|element| offset(element.offset())).collect()
    }

    /// Sets what a group without members has committed.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn set_committed(
        &self,
        group: &str,
        topic: &str,
        partition: i32,
        (offset, metadata): (i64, &str),
    ) {
        let mut config = self.config();
        let client: BaseConsumer = config.set("group.id", group).create().expect("a client");
        let mut list = TopicPartitionList::new();
        let mut element = list.add_partition(topic, partition);
        element.set_offset(Offset::Offset(offset)).expect("an offset");
        element.set_metadata(metadata);
        let committed = client.commit(&list, rdkafka::consumer::CommitMode::Sync);
        committed.expect("a group without members");
    }
}
