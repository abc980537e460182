//! Engines with a topic each.

use colored::time::{Duration, Instant, sleep, sleep_until};
use colored_consumer::Source;
use colored_consumer_jetstream as jetstream;
use colored_consumer_kafka as of_kafka;
use colored_engines_proof::kafka::Kafka;
use colored_engines_proof::nats::Nats;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) const PARTITIONS: u32 = 12;

/// How long a member need not be heard of.
pub(crate) const SESSION: Duration = Duration::from_secs(6);

/// How often a member is heard.
pub(crate) const HEARTBEAT: Duration = Duration::from_millis(500);

/// So many keys have a record each.
const KEYS: usize = 100;

/// A topic of an engine, which is read by one group.
pub(crate) trait Side: Sync {
    type Source: Source;

    /// As `consumer-member` calls it.
    const NAME: &'static str;

    /// The server.
    fn url(&self) -> String;

    fn topic(&self) -> &str;

    async fn join(&self) -> Self::Source;

    /// Appends records, and waits until the server has them.
    async fn send(&self, records: impl Iterator<Item = (String, String)>);
}

/// A topic on a broker.
pub(crate) struct OnKafka {
    kafka: Arc<Kafka>,
    topic: &'static str,
    producer: ThreadedProducer<DefaultProducerContext>,
}

impl OnKafka {
    pub(crate) fn new(kafka: &Arc<Kafka>, topic: &'static str) -> Self {
        colored::block_in_place(|| kafka.create_topic(topic, PARTITIONS));
        let mut config = kafka.config();
        config.set("linger.ms", "0").set("queue.buffering.max.messages", "2000000");
        let producer = config.create().expect("the configuration is good");
        OnKafka { kafka: Arc::clone(kafka), topic, producer }
    }

    pub(crate) fn config(&self) -> rdkafka::ClientConfig {
        self.kafka.config()
    }
}

impl Side for OnKafka {
    type Source = of_kafka::Member;

    const NAME: &'static str = "kafka";

    fn url(&self) -> String {
        self.kafka.url()
    }

    fn topic(&self) -> &str {
        self.topic
    }

    async fn join(&self) -> of_kafka::Member {
        let member = of_kafka::Engine::new(&self.url()).member("g", [self.topic]);
        member.session(SESSION).heartbeat(HEARTBEAT).join().await.expect("a member")
    }

    async fn send(&self, records: impl Iterator<Item = (String, String)>) {
        for (key, value) in records {
            let record = BaseRecord::to(self.topic).key(&key).payload(&value);
            self.producer.send(record).map_err(|(error, _)| error).expect("there is room");
        }
        // `flush` looks each 100 ms.
        while self.producer.in_flight_count() > 0 {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// A topic in a stream.
pub(crate) struct JetStream {
    url: String,
    topic: &'static str,
    engine: jetstream::Engine,
}

impl JetStream {
    pub(crate) async fn new(nats: &Nats, topic: &'static str) -> Self {
        let engine = jetstream::Engine::connect(&nats.url()).await.expect("the server runs");
        engine.create_topic(topic, PARTITIONS).await.expect("a topic");
        JetStream { url: nats.url(), topic, engine }
    }

    /// A member of this group.
    pub(crate) async fn join_as(&self, group: &str) -> jetstream::Member {
        let member = self.engine.member(group, [self.topic]);
        member.session(SESSION).join().await.expect("a member")
    }
}

impl Side for JetStream {
    type Source = jetstream::Member;

    const NAME: &'static str = "jetstream";

    fn url(&self) -> String {
        self.url.clone()
    }

    fn topic(&self) -> &str {
        self.topic
    }

    async fn join(&self) -> jetstream::Member {
        self.join_as(&format!("g-{}", self.topic)).await
    }

    async fn send(&self, records: impl Iterator<Item = (String, String)>) {
        let records = records.map(|(key, value)| (Some(key), value));
        self.engine.send_all(self.topic, records).await.expect("the server takes all");
    }
}

/// When each hundred of records was confirmed.
#[derive(Default)]
pub(crate) struct Sent(Mutex<Vec<Instant>>);

impl Sent {
    /// When the records of this number were confirmed, if they were.
    pub(crate) fn at(&self, number: usize) -> Option<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(number).copied()
    }

    /// Sends a hundred records each time, or as fast as they are confirmed, whose values are the numbers of their hundreds.
    pub(crate) async fn send(&self, side: &impl Side, hundreds: usize, each: Duration) {
        let start = Instant::now();
        for number in 0..hundreds {
            side.send((0..KEYS).map(|key| (format!("k{key}"), number.to_string()))).await;
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
            sleep_until(start + each * (number as u32 + 1)).await;
        }
    }
}
