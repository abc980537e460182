//! What an administrator does with topics, and what time does.

use super::{Kafka, WAIT, wait};
use rdkafka::admin::{AdminOptions, NewPartitions, NewTopic, TopicReplication};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{Offset, TopicPartitionList};
use std::time::{Duration, Instant};

impl Kafka {
    /// Makes a topic.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn create_topic(&self, name: &str, partitions: u32) {
        let partitions = i32::try_from(partitions).expect("a number of partitions");
        self.make(&NewTopic::new(name, partitions, TopicReplication::Fixed(1)));
    }

    /// Makes a topic of one partition that is compacted as soon as a record comes a tenth of a second after another one.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn create_compacted_topic(&self, name: &str) {
        let topic = NewTopic::new(name, 1, TopicReplication::Fixed(1));
        let topic = topic.set("cleanup.policy", "compact").set("segment.ms", "100");
        self.make(&topic.set("min.cleanable.dirty.ratio", "0.001"));
    }

    fn make(&self, topic: &NewTopic<'_>) {
        let admin = self.admin();
        let made = wait(admin.create_topics([topic], &AdminOptions::new()));
        made.expect("the broker answers").remove(0).expect("a topic is made");
        self.wait_for(topic.name, |partitions| partitions > 0);
    }

    /// The controller has given a topic so many partitions, and the broker hears of it.
    fn wait_for(&self, name: &str, is_so: impl Fn(usize) -> bool) {
        let client: BaseConsumer = self.config().create().expect("the configuration is good");
        let end = Instant::now() + WAIT;
        let partitions = || {
            let found = client.fetch_metadata(Some(name), WAIT).expect("an answer");
            let topics = found.topics().iter().filter(|of| of.error().is_none());
            topics.map(|of| of.partitions().len()).sum::<usize>()
        };
        while !is_so(partitions()) {
            assert!(Instant::now() < end, "the broker does not know {name} as it is");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Gives a topic more partitions.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn grow_topic(&self, name: &str, partitions: usize) {
        let (admin, more) = (self.admin(), NewPartitions::new(name, partitions));
        let grown = wait(admin.create_partitions([&more], &AdminOptions::new()));
        grown.expect("the broker answers").remove(0).expect("a topic grows");
        self.wait_for(name, |of| of >= partitions);
    }

    /// Deletes a topic.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn delete_topic(&self, name: &str) {
        let admin = self.admin();
        let deleted = wait(admin.delete_topics(&[name], &AdminOptions::new()));
        deleted.expect("the broker answers").remove(0).expect("a topic is deleted");
        // Else who makes it again could take the old one for the new one.
        self.wait_for(name, |partitions| partitions == 0);
    }

    /// Deletes the records of a partition before an offset, as retention does.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn delete_records(&self, topic: &str, partition: i32, before: i64) {
        let admin = self.admin();
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(topic, partition, Offset::Offset(before)).expect("an offset");
        wait(admin.delete_records(&list, &AdminOptions::new())).expect("the broker deletes");
    }

    /// The offset after the last record of each partition.
    ///
    /// # Panics
    ///
    /// If the broker does not answer.
    #[must_use]
    pub fn ends(&self, topic: &str, partitions: u32) -> Vec<u64> {
        let client: BaseConsumer = self.config().create().expect("a client");
        let numbers = 0..i32::try_from(partitions).expect("a number of partitions");
        let end = |partition| {
            let (_, end) = client.fetch_watermarks(topic, partition, WAIT).expect("an answer");
            u64::try_from(end).unwrap_or(0)
        };
        numbers.map(end).collect()
    }
}
