//! What the broker sends is handled, and is not asked for again: whatever the bounds of a consumer are.

use crate::support::Topic;
use colored::sync::Semaphore;
use colored::time::{Duration, Instant, sleep, timeout};
use colored_consumer::{Consumer, Control, Event, Room, Source};
use colored_consumer_kafka::{Engine, Member};
use colored_engines_proof::suite::{TestTopic, until};
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const PARTITIONS: u32 = 4;
const COUNT: u64 = 40_000;

/// The size of a value. A record takes a few bytes more in the log.
const VALUE: usize = 500;

/// What clients have said of themselves, by their names.
#[derive(Default)]
struct Statistics(Mutex<HashMap<String, Said>>);

#[derive(Clone, Debug, Default)]
struct Said {
    /// How often.
    times: u64,
    /// The bytes that the client got from its broker.
    got: u64,
    /// The bytes of records of a partition that were in its queue: at most, and of each partition at last.
    most: u64,
    queued: Vec<u64>,
}

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
        let said = all.entry(name.to_owned()).or_default();
        said.times += 1;
        said.got = numbers(json, "rx_bytes").next().unwrap_or(0);
        said.queued = numbers(json, "fetchq_size").collect();
        said.most = said.queued.iter().copied().fold(said.most, u64::max);
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

impl Statistics {
    fn of(&self, name: &str) -> Said {
        self.0.lock().unwrap().get(name).cloned().unwrap_or_default()
    }
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

/// The engine of a client of this name, which says each 100 ms what it has.
fn engine(topic: &Topic, name: &str) -> Engine {
    topic.engine().set("client.id", name).set("statistics.interval.ms", "100")
}

/// Handles all with these bounds of a consumer and a partition; the first handlers wait until it holds as much as it may.
async fn handle(topic: &Topic, name: &str, bounds: Option<usize>) -> Said {
    let engine = engine(topic, name);
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
    // The statistics that come next may have begun before: so two more.
    let said = statistics().of(name).times;
    until("two statistics", async || statistics().of(name).times >= said + 2).await;
    consumer.stop().await.unwrap();
    statistics().of(name)
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
        let Said { got, most, .. } = handle(&topic, name, bounds).await;
        let ratio = got as f64 / (COUNT * (VALUE as u64 + 5)) as f64;
        println!("{name}: {ratio:.3} of the records were fetched, at most {most} queued");
        assert!((0.95..=1.05).contains(&ratio), "{name}: {ratio}");
        assert!(most <= (1 << 20) + 3 * VALUE as u64, "{name}: {most}");
    }
    assert!(all.0.lock().unwrap().len() >= 4);
}

/// Takes records for a while, in their order and once. Returns what else happens, if something does.
async fn read(member: &mut Member, next: &mut [u64; 2], time: Duration) -> Option<Event> {
    let (end, room) = (Instant::now() + time, Room { records: 100, bytes: 1 << 20 });
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        match timeout(left, member.poll(room)).await.ok()?.unwrap() {
            Event::Records { owned, records, .. } => {
                let next = &mut next[owned.partition.partition as usize];
                for record in records {
                    assert_eq!(record.offset, *next, "{owned:?}");
                    *next += 1;
                }
            }
            event => return Some(event),
        }
        sleep(Duration::from_millis(2)).await;
    }
    None
}

/// Takes records until that is enough, and before the end. Nothing else happens.
async fn read_until(
    member: &mut Member,
    next: &mut [u64; 2],
    end: Instant,
    is_enough: impl Fn(&[u64; 2]) -> bool,
) {
    while !is_enough(next) {
        assert!(Instant::now() < end, "{next:?}");
        assert!(read(member, next, Duration::from_millis(100)).await.is_none());
    }
}

/// Of a partition of which the consumer wants nothing for a third of the session the client keeps nothing. It goes on where it was.
#[colored::test]
async fn a_partition_that_stands_for_long_holds_nothing() {
    let all = statistics();
    let Some(topic) = Topic::create("stands", 2).await else { return };
    colored::block_in_place(|| fill(&topic));
    let options = engine(&topic, "stands").member("g-stands", ["stands"]);
    let mut member = options.session(Duration::from_secs(9)).join().await.unwrap();
    let room = Room { records: 1, bytes: 1 };
    let Ok(Event::Assigned(assigned)) = member.poll(room).await else { panic!("no partitions") };
    assigned.iter().for_each(|of| member.begin(&of.owned, 0));
    let (mut next, millis) = ([0, 0], Duration::from_millis);
    assert!(read(&mut member, &mut next, millis(300)).await.is_none());
    assigned.iter().for_each(|of| member.pause(&of.owned.partition));
    let (before, end) = (next, Instant::now() + Duration::from_secs(60));
    let queued = || all.of("stands").queued.iter().sum::<u64>();
    for holds in [true, false] {
        while (queued() > 0) != holds {
            assert!(Instant::now() < end, "{} bytes are held", queued());
            assert!(read(&mut member, &mut next, millis(100)).await.is_none());
        }
    }
    assert_eq!(next, before);
    assigned.iter().for_each(|of| member.resume(&of.owned.partition));
    read_until(&mut member, &mut next, end, |next| next.iter().sum::<u64>() == COUNT).await;
    member.close().await.unwrap();
}

/// A partition is revoked while much of it is read ahead, and comes back: nothing of it comes behind the revocation, nor then but
/// what is asked for, from its begin on.
#[colored::test]
async fn nothing_that_was_read_ahead_comes_behind_a_hand_over() {
    let Some(topic) = Topic::create("comes-back", 2).await else { return };
    colored::block_in_place(|| fill(&topic));
    let (mut member, mut next) = (topic.member().join().await.unwrap(), [0, 0]);
    let (millis, end) = (Duration::from_millis, Instant::now() + Duration::from_secs(120));
    let Some(Event::Assigned(all)) = read(&mut member, &mut next, 60 * millis(1_000)).await else {
        panic!("no partitions")
    };
    all.iter().for_each(|of| member.begin(&of.owned, 0));
    read_until(&mut member, &mut next, end, |next| !next.contains(&0)).await;
    // It is polled by a task of its own, as long as it is there.
    let mut other = topic.member().join().await.unwrap();
    let is_assigned = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&is_assigned);
    let guest = colored::spawn_unique(async move {
        let room = Room { records: 0, bytes: 0 };
        let Ok(Event::Assigned(_)) = other.poll(room).await else { panic!("no partition") };
        // Ordering: a flag of its own.
        told.store(1, Ordering::Relaxed);
        other.close().await.unwrap();
    });
    let Some(Event::Revoked(revoked)) = read(&mut member, &mut next, 60 * millis(1_000)).await
    else {
        panic!("nothing is revoked")
    };
    let [gone] = &revoked[..] else { panic!("{revoked:?}") };
    let at = gone.partition.partition as usize;
    let stands = next[at];
    assert!(read(&mut member, &mut next, millis(300)).await.is_none());
    assert_eq!(next[at], stands, "records behind the revocation");
    member.control().release(revoked.clone()).await.unwrap();
    let Some(Event::Assigned(back)) = read(&mut member, &mut next, 60 * millis(1_000)).await else {
        panic!("it does not come back")
    };
    guest.await.unwrap();
    // Ordering: its task has ended.
    assert_eq!((is_assigned.load(Ordering::Relaxed), next[at]), (1, stands));
    assert!(back.len() == 1 && back[0].owned.partition == gone.partition);
    next[at] = 0;
    member.begin(&back[0].owned, 0);
    read_until(&mut member, &mut next, end, |next| next.iter().sum::<u64>() == COUNT).await;
    member.close().await.unwrap();
}
