//! A Kafka broker: one process, which is its own controller.

mod groups;
mod records;
mod topics;

pub use self::records::{Sender, Transaction};

use crate::Directory;
use crate::server::{Server, find, free_port};
use rdkafka::ClientConfig;
use rdkafka::admin::AdminClient;
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
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
        kafka.run(&[]);
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
        // It does not begin before the session of its predecessor is over.
        self.run(&["--override", "broker.session.timeout.ms=2000"]);
    }

    fn run(&mut self, options: &[&str]) {
        let mut arguments = self.java("kafka.Kafka");
        arguments.push(self.settings().display().to_string());
        arguments.extend(options.iter().map(ToString::to_string));
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

/// The controller takes no broker for dead: a busy disk delays the heartbeats of a broker by seconds, and a new leader of the
/// groups' partition forgets a rebalance that has begun.
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
broker.session.timeout.ms=120000
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
