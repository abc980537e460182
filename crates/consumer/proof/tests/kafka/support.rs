//! A broker for all tests of this program, and topics of their own.

use colored::time::{Duration, Instant, sleep};
use colored_consumer::{Consumer, Reset};
use colored_consumer_kafka::{Engine, Member, MemberOptions};
use colored_engines_proof::effects::millis;
use colored_engines_proof::kafka::{Kafka, Transaction};
use colored_engines_proof::suite::{Numbers, TestTopic};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// How long anything may take.
const WAIT: Duration = Duration::from_secs(120);

/// The broker, if there is one.
fn kafka() -> Option<&'static Kafka> {
    static KAFKA: OnceLock<Option<Kafka>> = OnceLock::new();
    colored::block_in_place(|| KAFKA.get_or_init(Kafka::start).as_ref())
}

/// A topic of its own.
pub(crate) struct Topic {
    pub(crate) kafka: &'static Kafka,
    pub(crate) name: String,
    partitions: u32,
    numbers: Numbers,
}

impl Topic {
    pub(crate) fn engine(&self) -> Engine {
        Engine::new(&self.kafka.url()).set("topic.metadata.refresh.interval.ms", "500")
    }

    fn group(&self) -> String {
        format!("g-{}", self.name)
    }

    /// A new topic of one partition that is compacted soon.
    pub(crate) async fn create_compacted(name: &str) -> Option<Topic> {
        let kafka = kafka()?;
        colored::block_in_place(|| kafka.create_compacted_topic(name));
        Some(Topic { kafka, name: name.to_owned(), partitions: 1, numbers: Numbers::default() })
    }

    /// A member of the topic's group, which hears of a rebalance soon.
    pub(crate) fn member(&self) -> MemberOptions {
        let member = self.engine().member(&self.group(), [&*self.name]);
        member.session(millis(30_000)).heartbeat(millis(150))
    }

    /// Appends records with these numbers to the first partition.
    pub(crate) async fn plain(&self, numbers: Range<u64>) {
        let record = |number: u64| (Some(format!("k{}", number % 3)), number.to_string(), Some(0));
        let records: Vec<_> = numbers.map(record).collect();
        colored::block_in_place(|| self.kafka.send(&self.name, &records));
    }

    /// The same in a transaction of this name, which is under way.
    pub(crate) async fn begin(&self, name: &str, numbers: Range<u64>) -> Transaction {
        let place = (&*self.name, 0);
        colored::block_in_place(|| self.kafka.begin_transaction(name, place, numbers))
    }

    pub(crate) async fn transaction(&self, numbers: Range<u64>) {
        let transaction = self.begin(&format!("t-{}", self.name), numbers).await;
        colored::block_in_place(|| transaction.commit());
    }

    pub(crate) async fn abort(&self, numbers: Range<u64>) {
        let transaction = self.begin(&format!("t-{}", self.name), numbers).await;
        colored::block_in_place(|| transaction.abort());
    }

    /// Retention takes what the first partition has before this offset.
    pub(crate) async fn delete_records(&self, before: i64) {
        colored::block_in_place(|| self.kafka.delete_records(&self.name, 0, before));
    }

    /// Deletes the group, which has no members, with its offsets.
    pub(crate) async fn delete_group(&self) {
        colored::block_in_place(|| self.kafka.delete_group(&self.group()));
    }

    /// A consumer of the topic's group, and what it has handled.
    pub(crate) async fn start(&self, reset: Reset) -> (Consumer, Seen) {
        start(self.member().join().await.unwrap(), reset)
    }

    /// The same, and it hears of other partitions as late as any.
    pub(crate) async fn start_late(&self, reset: Reset) -> (Consumer, Seen) {
        let engine = Engine::new(&self.kafka.url());
        let member = engine.member(&self.group(), [&*self.name]).session(millis(30_000));
        start(member.heartbeat(millis(150)).join().await.unwrap(), reset)
    }

    /// Waits until the consumer has committed this offset in the first partition, and nothing is left there that it can read.
    pub(crate) async fn wait_until_done(&self, consumer: &Consumer, committed: u64) {
        let end = Instant::now() + WAIT;
        loop {
            let partitions = consumer.metrics().await.partitions;
            let of = partitions.iter().find(|of| of.partition.partition == 0);
            if of.is_some_and(|of| of.committed == committed && of.lag == 0) {
                return;
            }
            assert!(Instant::now() < end && !consumer.is_ended(), "{partitions:?}");
            sleep(millis(10)).await;
        }
    }
}

fn start(member: Member, reset: Reset) -> (Consumer, Seen) {
    let seen = Seen::default();
    let sees = seen.clone();
    let builder = Consumer::builder(member).reset(reset).commit_every(millis(50));
    let consumer = builder.start(move |record, _| {
        let value = record.value.unwrap_or_default();
        let number = std::str::from_utf8(&value).unwrap().parse().unwrap();
        sees.0.lock().unwrap().push(number);
        std::future::ready(Ok(()))
    });
    (consumer.unwrap(), seen)
}

/// The numbers that a consumer has handled, in their order.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<u64>>>);

impl Seen {
    pub(crate) fn all(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }

    /// Without their order: numbers have several keys.
    pub(crate) fn sorted(&self) -> Vec<u64> {
        let mut all = self.all();
        all.sort_unstable();
        all
    }

    pub(crate) async fn wait_for(&self, count: usize) {
        let end = Instant::now() + WAIT;
        while self.all().len() < count {
            assert!(Instant::now() < end, "{} of {count}", self.all().len());
            sleep(millis(10)).await;
        }
    }
}

impl TestTopic for Topic {
    type Source = Member;

    async fn create(name: &str, partitions: u32) -> Option<Topic> {
        let kafka = kafka()?;
        colored::block_in_place(|| kafka.create_topic(name, partitions));
        Some(Topic { kafka, name: name.to_owned(), partitions, numbers: Numbers::default() })
    }

    async fn join(&self, session: Duration, instance: Option<&str>) -> Member {
        // The heartbeats come from a thread of the client: only this says that the member must be polled.
        let polled = session.as_millis().to_string();
        let engine = self.engine().set("max.poll.interval.ms", polled);
        let mut member = engine.member(&self.group(), [&*self.name]);
        if let Some(name) = instance {
            member = member.instance(name);
        }
        member.session(session).heartbeat(millis(150)).join().await.unwrap()
    }

    async fn send(&self, keys: usize, count: u64) {
        let records = self.numbers.next(keys, count).into_iter();
        let records: Vec<_> = records.map(|(key, value)| (Some(key), value, None)).collect();
        colored::block_in_place(|| self.kafka.send(&self.name, &records));
    }

    async fn committed(&self) -> Vec<u64> {
        let (group, partitions) = (self.group(), self.partitions);
        colored::block_in_place(|| self.kafka.committed(&group, &self.name, partitions))
    }

    async fn ends(&self) -> Vec<u64> {
        colored::block_in_place(|| self.kafka.ends(&self.name, self.partitions))
    }
}
