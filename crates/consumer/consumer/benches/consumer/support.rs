//! Logs in directories of their own, and what the system says about this process.

use colored::Runtime;
use colored::runtime::Tuning;
use colored::time::Duration;
use colored_consumer::embedded::{Engine, NewRecord, Options};
use std::path::{Path, PathBuf};

pub(crate) const PARTITIONS: u32 = 12;

/// A directory that is removed at the end.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Directory {
        let name = format!("colored-consumer-bench-{}-{name}", std::process::id());
        Directory(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Sends records with these keys.
    pub(crate) fn fill(&self, keys: impl Iterator<Item = usize> + Send + 'static) {
        self.fill_partitions(PARTITIONS, keys);
    }

    /// Sends records with these keys to so many partitions.
    pub(crate) fn fill_partitions(
        &self,
        partitions: u32,
        keys: impl Iterator<Item = usize> + Send + 'static,
    ) {
        let path = self.0.clone();
        runtime(2).run(async move {
            let engine = open(path).await;
            engine.create_topic("t", partitions).await.expect("a topic");
            let records: Vec<_> = keys.map(record).collect();
            for chunk in records.chunks(10_000) {
                engine.send_all("t", chunk.to_vec()).await.expect("a log");
            }
        });
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn record(key: usize) -> NewRecord {
    NewRecord::new(format!("k{key}"), vec![b'v'; 100])
}

/// An engine that does not wait for the device.
pub(crate) async fn open(path: PathBuf) -> Engine {
    Options::new().sync(false).open(path).await.expect("the engine opens")
}

/// With fine timers: a handler's sleep stands for a wait that ends in time.
pub(crate) fn runtime(workers: usize) -> Runtime {
    let fine = Tuning::new().timer_resolution(Duration::from_micros(200));
    Runtime::builder().workers(workers).tuning(fine).build().expect("a runtime")
}

/// Keys by Zipf's law.
pub(crate) fn zipf(count: usize, keys: usize) -> impl Iterator<Item = usize> + Send + 'static {
    let mut sums = Vec::new();
    for rank in 1..=keys {
        sums.push(sums.last().unwrap_or(&0.0) + 1.0 / rank as f64);
    }
    let mut chance = fastrand::Rng::with_seed(1);
    (0..count).map(move |_| {
        let at = chance.f64() * sums[keys - 1];
        sums.partition_point(|sum| *sum < at).min(keys - 1)
    })
}

/// The CPU time of this process, in ticks of 10 ms. Linux only.
pub(crate) fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (_, rest) = text.rsplit_once(')').unwrap_or_default();
    let words: Vec<_> = rest.split_whitespace().collect();
    let ticks = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

/// The value that this part of the values does not exceed.
pub(crate) fn quantile(values: &mut [Duration], part: f64) -> Duration {
    values.sort_unstable();
    values[((values.len() - 1) as f64 * part) as usize]
}
