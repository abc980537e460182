//! Rows of a consumer on Kafka: `cargo bench -p colored-engines-proof [-- ROW ..]`, after `fetch-servers peers`.
//!
//! | row | what |
//! |---|---|
//! | `cpu` | CPU time of a record with a handler of 1 µs and 1,000 Zipf keys; the floor is a bare stream of `rdkafka`, whose loop computes as long |
//! | `sleep` | 10,000 records of 1, 100 and 10,000 keys whose handler sleeps 2 ms, 100 at a time: from the first record to the last, over the bound |
//!
//! Beside both: Parallel Consumer, if it is there and there is a Java.

use colored::Runtime;
use colored::time::{Duration, Instant, sleep};
use colored_consumer::Consumer;
use colored_consumer_kafka::Engine;
use colored_engines_proof::find;
use colored_engines_proof::kafka::Kafka;
use futures_util::StreamExt;
use rdkafka::consumer::{Consumer as _, DefaultConsumerContext, StreamConsumer};
use rdkafka::util::AsyncRuntime;
use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const PARTITIONS: u32 = 12;

/// The runtime of the bare stream.
struct Colored;

impl AsyncRuntime for Colored {
    type Delay = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn spawn<T: Future<Output = ()> + Send + 'static>(task: T) {
        let _detached = colored::spawn_unique(task);
    }

    fn delay_for(time: Duration) -> Self::Delay {
        Box::pin(sleep(time))
    }
}

/// What a handler does.
#[derive(Clone, Copy)]
struct Work {
    sleep: Duration,
    compute: Duration,
}

/// How long all records took, and how much CPU time.
#[derive(Clone, Copy)]
struct Took {
    time: Duration,
    cpu: Duration,
}

/// The CPU time of this process, in ticks of 10 ms. Linux only.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (_, rest) = text.rsplit_once(')').unwrap_or_default();
    let words: Vec<_> = rest.split_whitespace().collect();
    let ticks = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

fn compute(time: Duration) {
    let start = std::time::Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A moment, and the CPU time until then.
type Moment = (Instant, Duration);

fn now() -> Moment {
    (Instant::now(), cpu())
}

fn took(first: Moment, last: Moment) -> Took {
    Took { time: last.0 - first.0, cpu: last.1.saturating_sub(first.1) }
}

/// A number that no other group has.
fn group() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Ordering: the numbers are different, whatever their order.
    format!("bench-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn runtime() -> Runtime {
    Runtime::builder().workers(2).build().expect("a runtime")
}

/// Makes a topic with records of 100 bytes with these keys.
fn fill(kafka: &Kafka, topic: &str, keys: impl Iterator<Item = usize>) {
    kafka.create_topic(topic, PARTITIONS);
    let record = |key| (Some(format!("k{key}")), "v".repeat(100), None);
    kafka.send(topic, &keys.map(record).collect::<Vec<_>>());
}

/// Keys by Zipf's law.
fn zipf(count: u64, keys: usize) -> impl Iterator<Item = usize> {
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

/// The consumer, from its first record on.
fn handle(kafka: &Kafka, topic: &'static str, count: u64, work: Work) -> Took {
    let engine = Engine::new(&kafka.url());
    runtime().run(async move {
        let member = engine.member(&group(), [topic]).join().await.expect("a member");
        let (first, last) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::new()));
        let (begins, ends, done) = (Arc::clone(&first), Arc::clone(&last), AtomicU64::new(0));
        let done = Arc::new(done);
        let builder = Consumer::builder(member).concurrency(100);
        let consumer = builder.start(move |_, _| {
            let (ends, done) = (Arc::clone(&ends), Arc::clone(&done));
            begins.get_or_init(now);
            async move {
                if !work.sleep.is_zero() {
                    sleep(work.sleep).await;
                }
                compute(work.compute);
                // Ordering: a count.
                if done.fetch_add(1, Ordering::Relaxed) + 1 == count {
                    ends.get_or_init(now);
                }
                Ok(())
            }
        });
        let consumer = consumer.expect("the settings are good");
        while last.get().is_none() {
            sleep(Duration::from_millis(20)).await;
        }
        consumer.stop().await.expect("the engine works");
        took(*first.get().expect("it has begun"), *last.get().expect("it has ended"))
    })
}

/// A bare stream, from its first record on.
fn stream(kafka: &Kafka, topic: &'static str, count: u64, work: Work) -> Took {
    let mut config = kafka.config();
    config.set("group.id", group()).set("auto.offset.reset", "earliest");
    runtime().run(async move {
        let consumer: StreamConsumer<DefaultConsumerContext, Colored> =
            config.create().expect("the configuration is good");
        consumer.subscribe(&[topic]).expect("the topic is there");
        let mut stream = consumer.stream();
        let mut first = None;
        for _ in 0..count {
            let record = stream.next().await.expect("it never ends");
            drop(record.expect("the broker works"));
            first.get_or_insert_with(now);
            compute(work.compute);
        }
        let took = took(first.expect("there are records"), now());
        drop(stream);
        colored::block_in_place(|| drop(consumer));
        took
    })
}

/// Parallel Consumer, from its first record on; `None` if it is not there.
fn parallel_consumer(kafka: &Kafka, topic: &str, count: u64, work: Work) -> Option<Took> {
    let jars = find("parallel-consumer")?;
    let output = Command::new("java")
        .args(["-Xmx512m", "-cp", &format!("{0}/*:{0}", jars.display()), "Peer"])
        .args([&kafka.url(), topic, &count.to_string()])
        .arg(work.sleep.as_millis().to_string())
        .arg(work.compute.as_micros().to_string())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let seconds: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [time, cpu] = seconds[..] else {
        panic!("{text} {}", String::from_utf8_lossy(&output.stderr))
    };
    Some(Took { time: Duration::from_secs_f64(time), cpu: Duration::from_secs_f64(cpu) })
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn cpu_row(kafka: &Kafka) {
    const COUNT: u64 = 300_000;
    let work = Work { sleep: Duration::ZERO, compute: Duration::from_micros(1) };
    fill(kafka, "cpu", zipf(COUNT, 1_000));
    let each = |of: Took| of.cpu.as_secs_f64() * 1e6 / COUNT as f64;
    let (mut own, mut floor, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..7 {
        let run = |is_own: bool| {
            if is_own {
                handle(kafka, "cpu", COUNT, work)
            } else {
                stream(kafka, "cpu", COUNT, work)
            }
        };
        let [one, other] = if round % 2 == 0 {
            [run(true), run(false)].map(each)
        } else {
            let [floor, own] = [run(false), run(true)].map(each);
            [own, floor]
        };
        own.push(one);
        floor.push(other);
        ratios.push(one / other);
    }
    let (own, floor, ratio) = (median(own), median(floor), median(ratios));
    println!("cpu: {own:.2} us a record, bare stream {floor:.2} us: {ratio:.2} of it");
    if let Some(peer) = parallel_consumer(kafka, "cpu", COUNT, work) {
        println!("cpu: Parallel Consumer {:.2} us", each(peer));
    }
}

fn sleep_rows(kafka: &Kafka) {
    const COUNT: u64 = 10_000;
    let work = Work { sleep: Duration::from_millis(2), compute: Duration::ZERO };
    for (topic, keys) in [("keys-10000", 10_000), ("keys-100", 100), ("keys-1", 1)] {
        fill(kafka, topic, (0..COUNT as usize).map(|number| number % keys));
        // A hundred at a time, and the records of a key one after the other.
        let bound = 2e-3 * COUNT as f64 / keys.min(100) as f64;
        let rounds = if keys == 1 { 1 } else { 5 };
        let seconds = |took: Took| took.time.as_secs_f64();
        let own = median((0..rounds).map(|_| seconds(handle(kafka, topic, COUNT, work))).collect());
        println!("sleep, {keys} keys: {own:.3} s, {:.3} of the bound", own / bound);
        if let Some(peer) = parallel_consumer(kafka, topic, COUNT, work).map(seconds) {
            println!("sleep, {keys} keys: Parallel Consumer {peer:.2} s, {:.1}", peer / bound);
        }
    }
}

fn main() {
    let Some(kafka) = Kafka::start() else { return };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_wanted = |name| wanted.is_empty() || wanted.iter().any(|word| word == name);
    if is_wanted("cpu") {
        cpu_row(&kafka);
    }
    if is_wanted("sleep") {
        sleep_rows(&kafka);
    }
}
