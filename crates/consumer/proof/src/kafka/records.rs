//! Records, alone and in transactions.

use super::{Kafka, WAIT};
use rdkafka::ClientContext;
use rdkafka::error::KafkaError;
use rdkafka::message::{DeliveryResult, Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext, ThreadedProducer};
use rdkafka::types::RDKafkaErrorCode;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

impl Kafka {
    /// Begins a transaction of this name with these numbers in a partition of a topic, which are written and not to be read yet.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    #[must_use]
    pub fn begin_transaction(
        &self,
        name: &str,
        (topic, partition): (&str, i32),
        numbers: Range<u64>,
    ) -> Transaction {
        let mut config = self.config();
        let producer: BaseProducer =
            config.set("transactional.id", name).create().expect("the configuration is good");
        producer.init_transactions(WAIT).expect("the broker answers");
        producer.begin_transaction().expect("there is none");
        for number in numbers {
            let (key, value) = (format!("k{}", number % 3), number.to_string());
            let record = BaseRecord::to(topic).partition(partition).key(&key).payload(&value);
            producer.send(record).expect("there is room");
        }
        producer.flush(WAIT).expect("the broker takes all");
        Transaction(producer)
    }

    /// Writes these numbers in a transaction, and commits it.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn send_transaction(&self, name: &str, place: (&str, i32), numbers: Range<u64>) {
        self.begin_transaction(name, place, numbers).commit();
    }

    /// Appends records with these keys, numbers and partitions, in order; without a partition, the key decides.
    ///
    /// # Panics
    ///
    /// If the broker refuses one.
    pub fn send(&self, topic: &str, records: &[(Option<String>, String, Option<i32>)]) {
        let producer = self.producer();
        for (key, value, partition) in records {
            let mut record = BaseRecord::<str, str>::to(topic).payload(value);
            record.key = key.as_deref();
            record.partition = *partition;
            while let Err((error, again)) = producer.send(record) {
                let full = KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull);
                assert_eq!(error, full);
                record = again;
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        flush(&producer);
    }

    fn producer(&self) -> ThreadedProducer<Deliveries> {
        let mut config = self.config();
        // What is sent again is there once.
        config.set("enable.idempotence", "true").set("linger.ms", "5");
        config.set("queue.buffering.max.messages", "1000000");
        config.create_with_context(Deliveries::default()).expect("the configuration is good")
    }

    /// Appends a record to a partition, whose value and whose headers' values may be missing.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn send_record(
        &self,
        (topic, partition): (&str, i32),
        key: Option<&str>,
        value: Option<&str>,
        headers: &[(&str, Option<&str>)],
    ) {
        self.sender().send_record((topic, partition), key, value, headers);
    }

    /// What sends one record after the other. Nothing is connected yet.
    ///
    /// # Panics
    ///
    /// If the client refuses its configuration.
    #[must_use]
    pub fn sender(&self) -> Sender {
        Sender(self.producer())
    }
}

/// Counts the records that the broker has not taken.
#[derive(Default)]
struct Deliveries(AtomicUsize);

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if let Err((error, _)) = result {
            eprintln!("a record was not taken: {error}");
            // Ordering: `flush` waits for it.
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Waits until the broker has all. The client's own `flush` looks each 100 ms.
fn flush(producer: &ThreadedProducer<Deliveries>) {
    let end = Instant::now() + WAIT;
    while producer.in_flight_count() > 0 {
        assert!(Instant::now() < end, "the broker answers");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Ordering: the client has said what has become of each.
    let lost = producer.context().0.load(Ordering::Relaxed);
    assert_eq!(lost, 0, "the broker takes all");
}

/// Sends one record after the other, and waits for each.
pub struct Sender(ThreadedProducer<Deliveries>);

impl Sender {
    /// Appends a record without a key to a partition, and without a value if there is none.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn send(&self, place: (&str, i32), value: Option<&str>) {
        self.send_record(place, None, value, &[]);
    }

    fn send_record(
        &self,
        (topic, partition): (&str, i32),
        key: Option<&str>,
        value: Option<&str>,
        headers: &[(&str, Option<&str>)],
    ) {
        let mut record = BaseRecord::<str, str>::to(topic).partition(partition);
        (record.key, record.payload) = (key, value);
        let list = headers.iter().fold(OwnedHeaders::new(), |list, (key, value)| {
            list.insert(Header { key, value: *value })
        });
        let sent = self.0.send(record.headers(list));
        sent.map_err(|(error, _)| error).expect("there is room");
        flush(&self.0);
    }
}

/// A transaction that is open.
pub struct Transaction(BaseProducer);

impl Transaction {
    /// Its records can be read from now on.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn commit(self) {
        self.0.commit_transaction(WAIT).expect("the broker answers");
    }

    /// Its records are never read.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn abort(self) {
        self.0.abort_transaction(WAIT).expect("the broker answers");
    }
}
