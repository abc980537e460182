//! What the broker sends is handled, and is not asked for again: whatever the bounds of a consumer are.

use crate::support::Topic;
use colored::sync::Semaphore;
use colored::time::{Duration, sleep};
use colored_consumer::Consumer;
use colored_engines_proof::suite::TestTopic;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const PARTITIONS: u32 = 4;
const COUNT: u64 = 40_000;

/// The size of a value. A record takes a few bytes more in the log.
const VALUE: usize = 500;

/// What clients have said of themselves last, by their names: the bytes that they got from their broker, and the bytes of records
/// of a partition that were in its queue, at most.
#[derive(Default)]
struct Statistics(Mutex<HashMap<String, (u64, u64)>>);

/// The numbers behind a name in JSON.
fn numbers<'a>(json: &'a str, name: &str) -> impl Iterator<Item = u64> + use<'a> {
    let name = format!("\"{name}\":");
    let parts: Vec<_> = json.split(&name).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.split([',', '}']).next()?.trim().parse().ok())
}

impl log::Log for Statistics {
    fn enabled(&self, of: &log::Metadata<'_>) -> bool {
        of.target() == "librdkafka"
    }

    fn log(&self, line: &log::Record<'_>) {
        let text = line.args().to_string();
        let Some((_, json)) = text.split_once("STATS ") else { return };
        let Some((_, name)) = json.split_once("\"client_id\":") else { return };
        let Some(name) = name.split('"').nth(1) else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (bytes, queued) = all.entry(name.to_owned()).or_default();
        *bytes = numbers(json, "rx_bytes").next().unwrap_or(0);
        *queued = numbers(json, "fetchq_size").fold(*queued, u64::max);
    }

    fn flush(&self) {}
}

fn statistics() -> &'static Statistics {
    static ALL: OnceLock<Statistics> = OnceLock::new();
    let all = ALL.get_or_init(Statistics::default);
    if log::set_logger(all).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
    all
}

/// Records in small batches: a broker cuts the last batch of an answer off where the answer is full.
fn fill(topic: &Topic) {
    let mut config = topic.kafka.config();
    config.set("batch.size", "16384").set("queue.buffering.max.messages", "1000000");
    let producer: ThreadedProducer<DefaultProducerContext> = config.create().unwrap();
    let value = "v".repeat(VALUE);
    for number in 0..COUNT {
        let key = format!("k{}", number % 1_000);
        let record = BaseRecord::to(&topic.name).key(&key).payload(&value);
        producer.send(record).map_err(|(error, _)| error).unwrap();
    }
    producer.flush(Duration::from_secs(120)).unwrap();
}

/// Handles all with these bounds of a consumer and a partition; the first handlers wait until it holds as much as it may. Returns
/// the bytes that the client got, and those of a partition's queue at most.
async fn handle(topic: &Topic, name: &str, bounds: Option<usize>) -> (u64, u64) {
    let engine = topic.engine().set("client.id", name).set("statistics.interval.ms", "100");
    let member = engine.member(name, [&*topic.name]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true);
    let builder = match bounds {
        Some(bound) => builder.records(bound).partition_records(bound),
        None => builder,
    };
    let (gate, handled) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicU64::new(0)));
    let (opens, counts) = (Arc::clone(&gate), Arc::clone(&handled));
    let consumer = builder.start(move |_, _| {
        let (gate, handled) = (Arc::clone(&gate), Arc::clone(&handled));
        async move {
            drop(gate.acquire().await);
            // Ordering: a count.
            handled.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    sleep(Duration::from_secs(1)).await;
    opens.add_permits(256);
    assert!(consumer.caught_up().await);
    // Ordering: the consumer has caught up.
    assert_eq!(counts.load(Ordering::Relaxed), COUNT);
    // Two more statistics.
    sleep(Duration::from_millis(300)).await;
    consumer.stop().await.unwrap();
    statistics().0.lock().unwrap()[name]
}

/// A partition at its bounds is not fetched, and what was fetched of it is kept: at most the answer to a fetch.
#[colored::test]
async fn a_record_is_fetched_once() {
    let all = statistics();
    let Some(topic) = Topic::create("fetched", PARTITIONS).await else { return };
    colored::block_in_place(|| fill(&topic));
    for (name, bounds) in [
        ("fetched", None),
        ("fetched-1", Some(1)),
        ("fetched-100", Some(100)),
        ("fetched-10000", Some(10_000)),
    ] {
        let (bytes, queued) = handle(&topic, name, bounds).await;
        let ratio = bytes as f64 / (COUNT * (VALUE as u64 + 5)) as f64;
        println!("{name}: {ratio:.3} of the records were fetched, at most {queued} queued");
        assert!((0.95..=1.05).contains(&ratio), "{name}: {ratio}");
        assert!(queued <= (1 << 20) + 3 * VALUE as u64, "{name}: {queued}");
    }
    assert!(all.0.lock().unwrap().len() >= 4);
}
