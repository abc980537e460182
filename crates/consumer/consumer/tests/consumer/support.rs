//! Engines in directories of their own, numbered records, and effects that are checked.

use colored::sync::Semaphore;
use colored::time::{Duration, Instant, sleep};
use colored_consumer::embedded::{Engine, NewRecord, Options};
use colored_consumer::{Builder, Consumer, Metrics, Record, Source, TopicPartition};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// A new directory, which is removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("colored-consumer-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the directory of temporary files is writable");
        Scratch(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An engine that does not wait for the device, with a topic `t`.
pub(crate) async fn engine(scratch: &Scratch, partitions: u32) -> Engine {
    let engine = Options::new().sync(false).open(scratch.path()).await.unwrap();
    engine.create_topic("t", partitions).await.unwrap();
    engine
}

/// Sends records with the numbers `from..to` of each key; the number is the value.
pub(crate) async fn send(engine: &Engine, keys: usize, from: u64, to: u64) {
    let numbers = (from..to).flat_map(|number| (0..keys).map(move |key| (key, number)));
    let records =
        numbers.map(|(key, number)| NewRecord::new(format!("k{key}"), number.to_string()));
    engine.send_all("t", records).await.unwrap();
}

pub(crate) fn partition(partition: u32) -> TopicPartition {
    TopicPartition { topic: "t".into(), partition }
}

pub(crate) fn key(record: &Record) -> String {
    String::from_utf8(record.key.clone().unwrap_or_default().to_vec()).unwrap()
}

pub(crate) fn number(record: &Record) -> u64 {
    std::str::from_utf8(record.value.as_deref().unwrap()).unwrap().parse().unwrap()
}

/// What handlers have done.
#[derive(Clone, Default)]
pub(crate) struct Effects(Arc<Mutex<Vec<Effect>>>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) key: String,
    pub(crate) number: u64,
    pub(crate) partition: u32,
    pub(crate) offset: u64,
    pub(crate) generation: u64,
}

impl Effects {
    pub(crate) fn add(&self, record: &Record, generation: u64) {
        let (partition, offset) = (record.partition, record.offset);
        let effect =
            Effect { key: key(record), number: number(record), partition, offset, generation };
        self.0.lock().unwrap().push(effect);
    }

    pub(crate) fn all(&self) -> Vec<Effect> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Waits until there are so many.
    pub(crate) async fn wait_for(&self, count: usize) {
        until("effects", || self.count() >= count).await;
    }

    /// The numbers of each key, in the order of their effects.
    pub(crate) fn by_key(&self) -> BTreeMap<String, Vec<u64>> {
        let mut by_key: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for effect in self.all() {
            by_key.entry(effect.key).or_default().push(effect.number);
        }
        by_key
    }

    /// Each key has each number once, in order.
    #[track_caller]
    pub(crate) fn assert_once_and_in_order(&self, keys: usize, to: u64) {
        let by_key = self.by_key();
        assert_eq!(by_key.len(), keys);
        for (key, numbers) in by_key {
            assert_eq!(numbers, (0..to).collect::<Vec<_>>(), "key {key}");
        }
    }

    /// Each key has each number, and begins again only at or before the number after the last: nothing is skipped.
    #[track_caller]
    pub(crate) fn assert_all_without_a_gap(&self, keys: usize, to: u64) {
        let by_key = self.by_key();
        assert_eq!(by_key.len(), keys);
        for (key, numbers) in by_key {
            let mut most = None;
            for number in numbers {
                let next = most.map_or(0, |most| most + 1);
                assert!(number <= next, "key {key}: {number} before {next}");
                most = most.max(Some(number));
            }
            assert_eq!(most, Some(to - 1), "key {key}");
        }
    }
}

/// Waits until something holds; gives up after a time that is long enough for a busy machine.
#[track_caller]
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) -> impl Future<Output = ()> {
    let end = Instant::now() + Duration::from_secs(60);
    let caller = std::panic::Location::caller();
    async move {
        while !holds() {
            assert!(Instant::now() < end, "{caller}: {what} did not come");
            sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Waits until the metrics of a consumer are so: handlers report after their effects.
pub(crate) async fn metrics_when(consumer: &Consumer, holds: impl Fn(&Metrics) -> bool) -> Metrics {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let metrics = consumer.metrics().await;
        if holds(&metrics) {
            return metrics;
        }
        assert!(Instant::now() < end, "{metrics:?}");
        sleep(millis(1)).await;
    }
}

/// A consumer whose handlers begin, and have their effect when each has a permit of the gate.
pub(crate) fn start_gated<S: Source>(
    builder: Builder<S>,
    begun: &Effects,
    gate: &Arc<Semaphore>,
    effects: &Effects,
) -> Consumer {
    let all = (begun.clone(), Arc::clone(gate), effects.clone());
    let consumer = builder.strict(true).start(move |record, context| {
        let (begun, gate, effects) = all.clone();
        async move {
            begun.add(&record, context.generation());
            gate.acquire().await.unwrap().forget();
            effects.add(&record, context.generation());
            Ok(())
        }
    });
    consumer.unwrap()
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
