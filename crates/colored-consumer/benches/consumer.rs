//! Rows of a consumer on the embedded engine: `cargo bench -p colored-rt-consumer`.
//!
//! | row | what |
//! |---|---|
//! | `sleep KEYS` | 10,000 records whose handler sleeps 2 ms, 100 at a time: the time over its bound |
//! | `cpu` | CPU time of a record with a handler of 1 µs and 1,000 Zipf keys; the floor polls the member and drops the records |
//! | `compute` | handlers that compute 20 µs: two workers over one |
//! | `memory` | the most memory after a million keys, with 100,000 records in flight |

use colored::Runtime;
use colored::time::{Duration, Instant, sleep};
use colored_consumer::embedded::{Engine, NewRecord, Options};
use colored_consumer::{Consumer, Event, Room, Source};
use std::path::PathBuf;

/// A directory that is removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let name = format!("colored-consumer-bench-{}-{name}", std::process::id());
        Directory(std::env::temp_dir().join(name))
    }

    /// Sends records with these keys.
    fn fill(&self, keys: impl Iterator<Item = usize> + Send + 'static) {
        let path = self.0.clone();
        runtime(2).run(async move {
            let engine = open(path).await;
            engine.create_topic("t", 12).await.expect("a topic");
            let records = keys.map(|key| NewRecord::new(format!("k{key}"), vec![b'v'; 100]));
            let records: Vec<_> = records.collect();
            for chunk in records.chunks(10_000) {
                engine.send_all("t", chunk.to_vec()).await.expect("a log");
            }
        });
    }
}

async fn open(path: PathBuf) -> Engine {
    Options::new().sync(false).open(path).await.expect("the engine opens")
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("a runtime")
}

/// Keys by Zipf's law.
fn zipf(count: usize, keys: usize) -> impl Iterator<Item = usize> + Send + 'static {
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
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (_, rest) = text.rsplit_once(')').unwrap_or_default();
    let words: Vec<_> = rest.split_whitespace().collect();
    let ticks = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

/// The memory of this process now and at most, in MB.
fn memory() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ["VmRSS:", "VmHWM:"].map(|name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let kilobytes = line.trim().strip_suffix(" kB").and_then(|number| number.parse().ok());
        kilobytes.unwrap_or(0_u64) / 1024
    })
}

fn compute(time: Duration) {
    let start = std::time::Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Handles `count` records of a filled directory by 100 at a time; returns the time and the CPU time.
fn handle(
    directory: &Directory,
    group: &str,
    (workers, count): (usize, u64),
    work: fn(&colored_consumer::Record) -> Option<Duration>,
) -> [Duration; 2] {
    let (path, group) = (directory.0.clone(), group.to_owned());
    runtime(workers).run(async move {
        let engine = open(path).await;
        let member = engine.member(&group, ["t"]).join().await.expect("a member");
        let (start, before) = (Instant::now(), cpu());
        let builder = Consumer::builder(member).concurrency(100).records(100_000);
        let consumer = builder.start(move |record, _| async move {
            if let Some(time) = work(&record) {
                sleep(time).await;
            }
            Ok(())
        });
        let consumer = consumer.expect("the settings are good");
        while consumer.metrics().await.done < count {
            sleep(Duration::from_millis(1)).await;
        }
        let times = [start.elapsed(), cpu() - before];
        consumer.stop().await.expect("the engine works");
        times
    })
}

fn sleep_rows() {
    for keys in [10_000, 100, 1] {
        let directory = Directory::new("sleep");
        directory.fill((0..10_000).map(move |number| number % keys));
        let [time, _] = handle(&directory, "g", (2, 10_000), |_| Some(Duration::from_millis(2)));
        // A hundred at a time, and the records of a key one after the other.
        let bound = (2.0 * 10_000.0 / keys.min(100) as f64) / 1_000.0;
        let seconds = time.as_secs_f64();
        println!("sleep {keys} keys: {seconds:.3} s, {:.3} of the bound", seconds / bound);
    }
}

fn cpu_row() {
    const COUNT: u64 = 300_000;
    let directory = Directory::new("cpu");
    directory.fill(zipf(COUNT as usize, 1_000));
    let floor = {
        let path = directory.0.clone();
        runtime(2).run(async move {
            let engine = open(path).await;
            let mut member = engine.member("floor", ["t"]).join().await.expect("a member");
            let (before, mut polled) = (cpu(), 0);
            while polled < COUNT {
                let room = Room { records: 20_000, bytes: 1 << 20 };
                match member.poll(room).await.expect("the engine works") {
                    Event::Assigned(all) => {
                        all.iter().for_each(|of| member.begin(&of.owned, of.start));
                    }
                    Event::Records { records, .. } => polled += records.len() as u64,
                    _ => {}
                }
            }
            cpu() - before
        })
    };
    let [time, own] = handle(&directory, "g", (2, COUNT), |_| {
        compute(Duration::from_micros(1));
        None
    });
    let each = |time: Duration| time.as_secs_f64() * 1e6 / COUNT as f64;
    println!(
        "cpu: {:.2} us a record with 1 us of the handler, {:.2} us of polling alone; {:.2} us of time",
        each(own),
        each(floor),
        each(time)
    );
}

fn compute_row() {
    let directory = Directory::new("compute");
    directory.fill(zipf(100_000, 1_000));
    let [one, two] = [1, 2].map(|workers| {
        let group = format!("g{workers}");
        handle(&directory, &group, (workers, 100_000), |_| {
            compute(Duration::from_micros(20));
            None
        })[0]
    });
    println!(
        "compute: {:.2} s with one worker, {:.2} s with two: {:.2} times as fast",
        one.as_secs_f64(),
        two.as_secs_f64(),
        one.as_secs_f64() / two.as_secs_f64()
    );
}

fn memory_row() {
    let directory = Directory::new("memory");
    for part in 0..10 {
        directory.fill(part * 100_000..(part + 1) * 100_000);
    }
    let before = memory();
    handle(&directory, "g", (2, 1_000_000), |_| None);
    println!("memory: {before:?} MB now and at most before, {:?} after a million keys", memory());
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let rows: [(&str, fn()); 4] =
        [("cpu", cpu_row), ("compute", compute_row), ("memory", memory_row), ("sleep", sleep_rows)];
    for (name, row) in rows {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            row();
        }
    }
}
