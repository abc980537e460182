//! What handlers have done, and consumers that do it.

use colored::time::{Duration, Instant, sleep};
use colored_consumer::{Builder, Consumer, Record, Source, TopicPartition};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A duration.
#[must_use]
pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What handlers have done.
#[derive(Clone, Default)]
pub struct Effects(Arc<Mutex<Vec<Effect>>>);

/// An effect of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The key of the record.
    pub key: String,
    /// Its value.
    pub number: u64,
    /// Its partition.
    pub partition: u32,
    /// The generation of the partition.
    pub generation: u64,
}

impl Effects {
    /// A record, whose value is a number, is handled.
    ///
    /// # Panics
    ///
    /// If the record is another one.
    pub fn add(&self, record: &Record, generation: u64) {
        let key = String::from_utf8(record.key.clone().unwrap_or_default().to_vec())
            .expect("it is as it was sent");
        let number = std::str::from_utf8(record.value.as_deref().unwrap_or_default())
            .expect("it is as it was sent")
            .parse()
            .expect("it is as it was sent");
        let effect = Effect { key, number, partition: record.partition, generation };
        self.0.lock().expect("it is as it was sent").push(effect);
    }

    /// All effects, in their order.
    #[must_use]
    pub fn all(&self) -> Vec<Effect> {
        self.0.lock().expect("it is as it was sent").clone()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.lock().expect("it is as it was sent").len()
    }

    /// Waits until there are so many. Cancel safe.
    ///
    /// # Panics
    ///
    /// If that takes two minutes.
    pub async fn wait_for(&self, count: usize) {
        let end = Instant::now() + Duration::from_secs(120);
        while self.count() < count {
            assert!(Instant::now() < end, "{} of {count} effects came", self.count());
            sleep(millis(5)).await;
        }
    }

    /// Each key has each number once, in order.
    ///
    /// # Panics
    ///
    /// If not.
    #[track_caller]
    pub fn assert_once_and_in_order(&self, keys: usize, to: u64) {
        let mut by_key: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for effect in self.all() {
            by_key.entry(effect.key).or_default().push(effect.number);
        }
        assert_eq!(by_key.len(), keys);
        for (key, numbers) in by_key {
            assert_eq!(numbers, (0..to).collect::<Vec<_>>(), "key {key}");
        }
    }
}

/// A consumer whose handlers take some time, and which drains as long as a busy machine may take.
///
/// # Panics
///
/// Outside a runtime.
pub fn run<S: Source>(builder: Builder<S>, effects: &Effects, work: Duration) -> Consumer {
    let seen = effects.clone();
    let builder = builder.strict(true).drain(Duration::from_secs(60));
    let consumer = builder.start(move |record, context| {
        let seen = seen.clone();
        async move {
            sleep(work).await;
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    consumer.expect("it is as it was sent")
}

/// The generations of a consumer's partitions. Cancel safe.
pub async fn owned(consumer: &Consumer) -> BTreeMap<TopicPartition, u64> {
    let partitions = consumer.metrics().await.partitions;
    partitions.into_iter().map(|of| (of.partition, of.generation)).collect()
}

/// Waits until the consumers own so many partitions each. Cancel safe.
///
/// # Panics
///
/// If that takes two minutes.
pub async fn settle(consumers: &[&Consumer], counts: &[usize]) {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let mut now = Vec::new();
        for consumer in consumers {
            now.push(owned(consumer).await.len());
        }
        if now == counts {
            return;
        }
        assert!(Instant::now() < end, "{now:?} partitions, and not {counts:?}");
        sleep(millis(10)).await;
    }
}
