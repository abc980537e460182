//! Ours, a bare stream of `rdkafka`, and Parallel Consumer; and what those by hand share.

use crate::measure::{Moment, Took, Work, compute, now, took};
use colored::Runtime;
use colored::runtime::Tuning;
use colored::time::{Duration, sleep};
use colored_consumer::{Builder, Consumer};
use colored_consumer_kafka::{Engine, Member};
use colored_engines_proof::find;
use colored_engines_proof::kafka::Kafka;
use futures_util::StreamExt;
use rdkafka::consumer::{Consumer as _, DefaultConsumerContext, StreamConsumer};
use rdkafka::message::OwnedMessage;
use rdkafka::util::AsyncRuntime;
use rdkafka::{ClientConfig, Message};
use std::collections::VecDeque;
use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

pub(crate) const PARTITIONS: u32 = 12;

/// Handlers at a time.
pub(crate) const AT_ONCE: usize = 100;

/// Records that are read and not done.
pub(crate) const HELD: usize = 100_000;

/// The runtime of the bare stream.
pub(crate) struct Colored;

impl AsyncRuntime for Colored {
    type Delay = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn spawn<T: Future<Output = ()> + Send + 'static>(task: T) {
        let _detached = colored::spawn_unique(task);
    }

    fn delay_for(time: Duration) -> Self::Delay {
        Box::pin(sleep(time))
    }
}

/// The client of those by hand.
pub(crate) type Client = StreamConsumer<DefaultConsumerContext, Colored>;

/// A group that nobody else is in.
fn group() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Ordering: the numbers are different, whatever their order.
    format!("bench-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// With fine timers: a handler's sleep stands for a wait that ends in time.
pub(crate) fn runtime(workers: usize) -> Runtime {
    let fine = Tuning::new().timer_resolution(Duration::from_micros(200));
    Runtime::builder().workers(workers).tuning(fine).build().expect("a runtime")
}

pub(crate) fn subscribe(mut config: ClientConfig, topic: &str) -> Client {
    config.set("group.id", group()).set("auto.offset.reset", "earliest");
    config.set("enable.auto.commit", "false");
    let client: Client = config.create().expect("the configuration is good");
    client.subscribe(&[topic]).expect("the topic is there");
    client
}

/// The client waits for its threads.
pub(crate) fn unsubscribe<T>(client: T) {
    colored::block_in_place(|| drop(client));
}

/// How far a consumer is.
pub(crate) struct Board {
    pub(crate) count: u64,
    first: OnceLock<Moment>,
    last: OnceLock<Moment>,
    done: AtomicU64,
    rows: Vec<Mutex<Row>>,
}

#[derive(Default)]
struct Row {
    /// All below are done.
    low: i64,
    /// Whether those from `low` on are done.
    done: VecDeque<bool>,
}

impl Board {
    pub(crate) fn new(count: u64) -> Board {
        let rows = (0..PARTITIONS).map(|_| Mutex::default()).collect();
        let (first, last, done) = Default::default();
        Board { count, first, last, done, rows }
    }

    /// The first record is there.
    pub(crate) fn begin(&self) {
        self.first.get_or_init(now);
    }

    /// How many records are done.
    pub(crate) fn done(&self) -> u64 {
        // Ordering: a count.
        self.done.load(Ordering::Relaxed)
    }

    /// One more record is done, by a consumer that keeps its own marks.
    pub(crate) fn count(&self) {
        // Ordering: a count.
        if self.done.fetch_add(1, Ordering::Relaxed) + 1 == self.count {
            self.last.get_or_init(now);
        }
    }

    /// A record is done.
    pub(crate) fn finish(&self, record: &OwnedMessage) {
        let mut row = lock(&self.rows[record.partition() as usize]);
        let at = (record.offset() - row.low) as usize;
        if row.done.len() <= at {
            row.done.resize(at + 1, false);
        }
        row.done[at] = true;
        while row.done.front() == Some(&true) {
            row.done.pop_front();
            row.low += 1;
        }
        drop(row);
        self.count();
    }

    /// The offset that each partition may commit, where there is one.
    pub(crate) fn lows(&self) -> Vec<(i32, i64)> {
        let lows = self.rows.iter().map(|row| lock(row).low);
        (0..).zip(lows).filter(|(_, low)| *low > 0).collect()
    }

    /// Waits until all records are done.
    pub(crate) async fn wait(&self) -> Took {
        while self.last.get().is_none() {
            sleep(Duration::from_millis(20)).await;
        }
        took(*self.first.get().expect("it has begun"), *self.last.get().expect("it has ended"))
    }
}

fn lock(row: &Mutex<Row>) -> MutexGuard<'_, Row> {
    row.lock().expect("no handler panics")
}

/// Ours, from its first record on, with its default bounds.
pub(crate) fn ours_by_default(kafka: &Kafka, topic: &str, count: u64, work: Work) -> Took {
    run_ours(kafka, topic, (count, work, 2), |builder| builder)
}

/// The same with the bounds of the others. Those by hand bound what they hold in all, and not by partition.
pub(crate) fn ours(kafka: &Kafka, topic: &str, count: u64, work: Work, workers: usize) -> Took {
    run_ours(kafka, topic, (count, work, workers), |builder| {
        builder.concurrency(AT_ONCE).records(HELD).partition_records(HELD)
    })
}

fn run_ours(
    kafka: &Kafka,
    topic: &str,
    (count, work, workers): (u64, Work, usize),
    set: impl FnOnce(Builder<Member>) -> Builder<Member> + Send + 'static,
) -> Took {
    let (engine, topic) = (Engine::new(&kafka.url()), topic.to_owned());
    runtime(workers).run(async move {
        let member = engine.member(&group(), [&*topic]).join().await.expect("a member");
        let board = Arc::new(Board::new(count));
        let own = Arc::clone(&board);
        let consumer = set(Consumer::builder(member)).start(move |_, _| {
            let board = Arc::clone(&own);
            board.begin();
            async move {
                work.run().await;
                board.count();
                Ok(())
            }
        });
        let consumer = consumer.expect("the settings are good");
        let took = board.wait().await;
        consumer.stop().await.expect("the engine works");
        took
    })
}

/// A bare stream, which computes in its loop, from its first record on.
pub(crate) fn bare(kafka: &Kafka, topic: &str, count: u64, work: Work) -> Took {
    let (config, topic) = (kafka.config(), topic.to_owned());
    runtime(2).run(async move {
        let client = subscribe(config, &topic);
        let mut stream = client.stream();
        let mut first = None;
        for _ in 0..count {
            let record = stream.next().await.expect("it never ends");
            drop(record.expect("the broker works"));
            first.get_or_insert_with(now);
            compute(work.compute);
        }
        let took = took(first.expect("there are records"), now());
        drop(stream);
        unsubscribe(client);
        took
    })
}

/// Parallel Consumer, from its first record on; `None` if it is not there.
pub(crate) fn parallel_consumer(
    kafka: &Kafka,
    topic: &str,
    count: u64,
    work: Work,
) -> Option<Took> {
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
