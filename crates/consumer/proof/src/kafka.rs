//! A Kafka broker: one process, which is its own controller.

use crate::Directory;
use crate::server::{Server, find, free_port};
use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::DefaultProducerContext;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ThreadedProducer};
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{ClientConfig, Offset, TopicPartitionList};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Command;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// A busy machine takes minutes to start a broker.
const WAIT: Duration = Duration::from_secs(300);

/// A broker.
#[derive(Debug)]
pub struct Kafka {
    directory: Directory,
    jars: PathBuf,
    port: u16,
    server: Option<Server>,
}

impl Kafka {
    /// Starts a broker; `None` if it is not there, and may be missing.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[must_use]
    pub fn start() -> Option<Kafka> {
        let jars = find("kafka")?;
        let directory = Directory::new();
        let (port, controller) = (free_port(), free_port());
        let data = directory.path().join("data");
        let settings = settings(port, controller, &data);
        std::fs::write(directory.path().join("server.properties"), settings).expect("it is new");
        std::fs::write(directory.path().join("log4j2.properties"), LOGGING).expect("it is new");
        let mut kafka = Kafka { directory, jars, port, server: None };
        let formatted = Command::new("java")
            .args(kafka.java("kafka.tools.StorageTool"))
            .args(["format", "-t", "Y29sb3JlZC1lbmdpbmVzLQ", "-c"])
            .arg(kafka.settings())
            .output()
            .expect("there is a Java");
        assert!(formatted.status.success(), "{}", String::from_utf8_lossy(&formatted.stderr));
        kafka.restart();
        Some(kafka)
    }

    fn settings(&self) -> PathBuf {
        self.directory.path().join("server.properties")
    }

    fn java(&self, class: &str) -> Vec<String> {
        let logging = self.directory.path().join("log4j2.properties");
        vec![
            "-Xms128m".into(),
            "-Xmx384m".into(),
            "-XX:+UseSerialGC".into(),
            "-XX:TieredStopAtLevel=1".into(),
            format!("-Dlog4j2.configurationFile={}", logging.display()),
            "-cp".into(),
            format!("{}/*", self.jars.display()),
            class.into(),
        ]
    }

    /// Kills the broker if it runs, starts it again with its data, and waits until it answers.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn restart(&mut self) {
        self.kill();
        let mut arguments = self.java("kafka.Kafka");
        arguments.push(self.settings().display().to_string());
        let log = self.directory.path().join("log");
        self.server = Some(Server::start(Path::new("java"), &arguments, self.directory.path()));
        let end = Instant::now() + WAIT;
        let client: BaseConsumer = self.config().create().expect("the configuration is good");
        while client.fetch_metadata(None, Duration::from_secs(1)).is_err() {
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(Instant::now() < end, "the broker did not start: {}", said());
        }
    }

    /// Kills the broker.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill();
        }
    }

    /// `host:port`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The configuration of a client.
    #[must_use]
    pub fn config(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", self.url()).set("log_level", "0");
        config
    }

    fn admin(&self) -> AdminClient<DefaultClientContext> {
        self.config().create().expect("the configuration is good")
    }

    /// Makes a topic.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn create_topic(&self, name: &str, partitions: u32) {
        let partitions = i32::try_from(partitions).expect("a number of partitions");
        self.make(&NewTopic::new(name, partitions, TopicReplication::Fixed(1)));
    }

    /// Makes a topic of one partition that is compacted as soon as a record comes a tenth of a second after another one.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn create_compacted_topic(&self, name: &str) {
        let topic = NewTopic::new(name, 1, TopicReplication::Fixed(1));
        let topic = topic.set("cleanup.policy", "compact").set("segment.ms", "100");
        self.make(&topic.set("min.cleanable.dirty.ratio", "0.001"));
    }

    fn make(&self, topic: &NewTopic<'_>) {
        let admin = self.admin();
        let made = wait(admin.create_topics([topic], &AdminOptions::new()));
        made.expect("the broker answers").remove(0).expect("a topic is made");
        // The controller has it, and the broker hears of it.
        let client: BaseConsumer = self.config().create().expect("the configuration is good");
        let end = Instant::now() + WAIT;
        let is_there = || {
            let found = client.fetch_metadata(Some(topic.name), WAIT).expect("an answer");
            let mut topics = found.topics().iter();
            topics.any(|of| of.error().is_none() && !of.partitions().is_empty())
        };
        while !is_there() {
            assert!(Instant::now() < end, "the broker does not know {}", topic.name);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Gives a topic more partitions.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn grow_topic(&self, name: &str, partitions: usize) {
        let (admin, more) = (self.admin(), NewPartitions::new(name, partitions));
        let grown = wait(admin.create_partitions([&more], &AdminOptions::new()));
        grown.expect("the broker answers").remove(0).expect("a topic grows");
    }

    /// Deletes a topic.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn delete_topic(&self, name: &str) {
        let admin = self.admin();
        let deleted = wait(admin.delete_topics(&[name], &AdminOptions::new()));
        deleted.expect("the broker answers").remove(0).expect("a topic is deleted");
    }

    /// Deletes the records of a partition before an offset, as retention does.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn delete_records(&self, topic: &str, partition: i32, before: i64) {
        let admin = self.admin();
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(topic, partition, Offset::Offset(before)).expect("an offset");
        wait(admin.delete_records(&list, &AdminOptions::new())).expect("the broker deletes");
    }

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

    /// Deletes a group that has no members, with its offsets.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn delete_group(&self, group: &str) {
        let admin = self.admin();
        let deleted = wait(admin.delete_groups(&[group], &AdminOptions::new()));
        deleted.expect("the broker answers").remove(0).expect("a group is deleted");
    }

    /// Appends records with these keys, numbers and partitions, in order; without a partition, the key decides.
    ///
    /// # Panics
    ///
    /// If the broker refuses one.
    pub fn send(&self, topic: &str, records: &[(Option<String>, String, Option<i32>)]) {
        let mut config = self.config();
        config.set("enable.idempotence", "true").set("linger.ms", "5");
        config.set("queue.buffering.max.messages", "1000000");
        let producer: ThreadedProducer<DefaultProducerContext> =
            config.create().expect("the configuration is good");
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
        producer.flush(WAIT).expect("the broker takes all");
        assert_eq!(producer.in_flight_count(), 0);
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
        Sender(self.config().create().expect("the configuration is good"))
    }

    /// What a group has committed in each partition, 0 if nothing.
    ///
    /// # Panics
    ///
    /// If the broker does not answer.
    #[must_use]
    pub fn committed(&self, group: &str, topic: &str, partitions: u32) -> Vec<u64> {
        let mut config = self.config();
        let client: BaseConsumer = config.set("group.id", group).create().expect("a client");
        let mut list = TopicPartitionList::new();
        for partition in 0..i32::try_from(partitions).expect("a number of partitions") {
            list.add_partition(topic, partition);
        }
        let end = Instant::now() + WAIT;
        let found = loop {
            // A broker that has just started does not know the group yet.
            match client.committed_offsets(list.clone(), WAIT) {
                Ok(found) => break found,
                Err(error) => assert!(Instant::now() < end, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        let offset = |offset| match offset {
            Offset::Offset(offset) => u64::try_from(offset).unwrap_or(0),
            _ => 0,
        };
        found.elements().iter().map(|element| offset(element.offset())).collect()
    }

    /// The offset after the last record of each partition.
    ///
    /// # Panics
    ///
    /// If the broker does not answer.
    #[must_use]
    pub fn ends(&self, topic: &str, partitions: u32) -> Vec<u64> {
        let client: BaseConsumer = self.config().create().expect("a client");
        let numbers = 0..i32::try_from(partitions).expect("a number of partitions");
        let end = |partition| {
            let (_, end) = client.fetch_watermarks(topic, partition, WAIT).expect("an answer");
            u64::try_from(end).unwrap_or(0)
        };
        numbers.map(end).collect()
    }

    /// Sets what a group without members has committed.
    ///
    /// # Panics
    ///
    /// If the broker refuses.
    pub fn set_committed(
        &self,
        group: &str,
        topic: &str,
        partition: i32,
        (offset, metadata): (i64, &str),
    ) {
        let mut config = self.config();
        let client: BaseConsumer = config.set("group.id", group).create().expect("a client");
        let mut list = TopicPartitionList::new();
        let mut element = list.add_partition(topic, partition);
        element.set_offset(Offset::Offset(offset)).expect("an offset");
        element.set_metadata(metadata);
        let committed = client.commit(&list, rdkafka::consumer::CommitMode::Sync);
        committed.expect("a group without members");
    }
}

/// Sends one record after the other, and waits for each.
pub struct Sender(ThreadedProducer<DefaultProducerContext>);

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
        self.0.flush(WAIT).expect("the broker takes it");
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

/// Waits for a client that has a thread of its own.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn settings(port: u16, controller: u16, data: &Path) -> String {
    format!(
        "process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={}
num.network.threads=2
num.io.threads=2
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
group.consumer.session.timeout.ms=12000
group.consumer.min.session.timeout.ms=12000
group.consumer.heartbeat.interval.ms=500
group.consumer.min.heartbeat.interval.ms=500
log.cleaner.backoff.ms=200
auto.create.topics.enable=false
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
",
        data.display()
    )
}

const LOGGING: &str = "status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
";
