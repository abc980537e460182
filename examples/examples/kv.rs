//! A key-value store: a color for each key, so that keys are independent and none has a lock. A few keys
//! are asked for most of the time (Zipf's law), by readers who look at one key at the same time.
//!
//! One `when` writes two keys that belong together, and another reads four: no reader ever sees half of a write.
//!
//! ```text
//! cargo run --release -p colored-examples --example kv -- [--writes PERCENT]
//! ```

use colored::{Color, ColorCell, spawn_unique, when};
use colored_examples::{Args, Failure};
use std::sync::Arc;
use std::time::Instant;

const KEYS: usize = 10_000;
const CLIENTS: usize = 64;
const OPERATIONS: usize = 1_000;
/// Close to the skew of requests to web servers.
const SKEW: f64 = 0.99;

/// How often a key was written, and its last value.
#[derive(Clone, Default)]
struct Entry {
    version: u64,
    text: Arc<str>,
}

struct Store {
    entries: Vec<ColorCell<Entry>>,
    zipf: Zipf,
}

#[derive(Default)]
struct Counts {
    reads: usize,
    writes: usize,
    torn: usize,
}

#[colored::main]
async fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line("kv [--writes PERCENT]");
    let writes = args.value("--writes", "a number from 0 to 100")?.unwrap_or(5_u8);
    if writes > 100 {
        return Err(args.mistake(format!("--writes {writes}: expected a number from 0 to 100")));
    }
    args.end()?;

    let entry = |_| ColorCell::new(Color::unique(), Entry::default());
    let entries = (0..KEYS).map(entry).collect();
    let store = Arc::new(Store { entries, zipf: Zipf::new(KEYS, SKEW) });
    let start = Instant::now();
    let client = |_| spawn_unique(client(Arc::clone(&store), writes));
    let mut all = Counts::default();
    for client in (0..CLIENTS).map(client).collect::<Vec<_>>() {
        let counts = client.await?;
        all.reads += counts.reads;
        all.writes += counts.writes;
        all.torn += counts.torn;
    }
    let Counts { reads, writes, torn } = all;
    println!("{reads} reads of 4 keys and {writes} writes of 2 in {:.1?}", start.elapsed());
    println!("{torn} reads saw half of a write");
    let mut versions = 0;
    for entry in &store.entries {
        versions += entry.read(|entry| entry.version).await;
    }
    println!("the keys have been written {versions} times");
    Ok(())
}

async fn client(store: Arc<Store>, writes: u8) -> Counts {
    let mut counts = Counts::default();
    for _ in 0..OPERATIONS {
        // Keys 2n and 2n + 1 belong together.
        let (one, other) = (store.pair(), store.pair());
        if fastrand::u8(..100) < writes {
            write(one).await;
            counts.writes += 1;
        } else {
            counts.reads += 1;
            counts.torn += usize::from(!read_whole(one, other).await);
        }
    }
    counts
}

impl Store {
    fn pair(&self) -> [&ColorCell<Entry>; 2] {
        let first = self.zipf.sample() & !1;
        [&self.entries[first], &self.entries[first + 1]]
    }
}

async fn write([first, second]: [&ColorCell<Entry>; 2]) {
    let text: Arc<str> = format!("{:016x}", fastrand::u64(..)).into();
    when((first, second), move |first, second| {
        for entry in [first, second] {
            entry.version += 1;
            entry.text = Arc::clone(&text);
        }
    })
    .await;
}

/// Reads both pairs, which may be the same; whether each was as one write has left it.
async fn read_whole(one: [&ColorCell<Entry>; 2], other: [&ColorCell<Entry>; 2]) -> bool {
    let shared = (one[0].shared(), one[1].shared(), other[0].shared(), other[1].shared());
    let whole = |a: &Entry, b: &Entry| a.version == b.version && a.text == b.text;
    when(shared, move |a, b, c, d| whole(a, b) && whole(c, d)).await
}

/// Numbers of which the n-th is asked for in proportion to 1 / n^skew.
struct Zipf {
    /// The sums of the shares up to each number.
    sums: Vec<f64>,
}

impl Zipf {
    fn new(numbers: usize, skew: f64) -> Self {
        let mut sum = 0.0;
        let share = |n: usize| {
            sum += (n as f64).powf(-skew);
            sum
        };
        Self { sums: (1..=numbers).map(share).collect() }
    }

    fn sample(&self) -> usize {
        let all = self.sums[self.sums.len() - 1];
        let place = fastrand::f64() * all;
        self.sums.partition_point(|sum| *sum <= place).min(self.sums.len() - 1)
    }
}
