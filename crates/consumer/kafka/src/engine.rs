//! [`Engine`] and [`MemberOptions`]: the configuration, and the join.

use crate::calls::{ANSWER, Calls, failed};
use crate::context::{Client, Context};
use crate::member::Member;
use crate::reader::AHEAD;
use colored::time::{Duration, Instant, sleep};
use colored_consumer::{Error, Source};
use rdkafka::ClientConfig;
use rdkafka::consumer::Consumer;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the member itself decides.
const OWN: [&str; 7] = [
    "auto.offset.reset",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.partition.eof",
    "group.id",
    "group.instance.id",
    "auto.commit.interval.ms",
];

/// Kafka's clients have 45 s, too.
const SESSION: Duration = Duration::from_secs(45);

/// A broker lets no session of the newer protocol be longer than 60 s, unless it is configured to.
const LONGEST_SESSION: Duration = Duration::from_secs(90);

/// How long after a refusal a static member tries to join again.
const BETWEEN_JOINS: Duration = Duration::from_secs(1);

/// A Kafka cluster.
#[derive(Clone, Debug)]
pub struct Engine {
    properties: BTreeMap<String, String>,
}

impl Engine {
    /// The cluster with these brokers: `host:port`, separated by commas. Nothing is connected.
    #[must_use]
    pub fn new(brokers: &str) -> Engine {
        // The client fetches no more of a partition while more than two records are left of what it has fetched, which is the
        // number of its own marks where a partition begins, or while as many bytes are left as a member reads ahead; it looks
        // every 10 ms, and by default every second. A broker has one fetch at a time, which other partitions may keep waiting for
        // records: 25 ms instead of half a second. A topic that grows is noticed in 10 s.
        let properties = [
            ("bootstrap.servers", brokers),
            ("queued.min.messages", "3"),
            ("queued.max.messages.kbytes", &(AHEAD.bytes >> 10).to_string()),
            ("fetch.queue.backoff.ms", "10"),
            ("fetch.wait.max.ms", "25"),
            ("topic.metadata.refresh.interval.ms", "10000"),
            ("partition.assignment.strategy", "cooperative-sticky"),
        ];
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Engine { properties: properties.into_iter().map(own).collect() }
    }

    /// Sets a property of librdkafka, such as `security.protocol`. What is wrong with it, [`MemberOptions::join`] says.
    #[must_use]
    pub fn set(mut self, property: impl Into<String>, value: impl Into<String>) -> Self {
        self.properties.insert(property.into(), value.into());
        self
    }

    /// A member of a group that reads these topics: set its options, and let it join.
    pub fn member<T: Into<Arc<str>>>(
        &self,
        group: &str,
        topics: impl IntoIterator<Item = T>,
    ) -> MemberOptions {
        MemberOptions {
            properties: self.properties.clone(),
            group: group.to_owned(),
            topics: topics.into_iter().map(Into::into).collect(),
            instance: None,
            session: SESSION,
            heartbeat: None,
        }
    }
}

/// The options of a member that is to join a group.
#[derive(Clone, Debug)]
#[must_use = "a member joins by `join`"]
pub struct MemberOptions {
    properties: BTreeMap<String, String>,
    group: String,
    topics: BTreeSet<Arc<str>>,
    instance: Option<String>,
    session: Duration,
    heartbeat: Option<Duration>,
}

impl MemberOptions {
    /// A static member: when it leaves, its partitions wait for the next member of this name until its session ends. With the
    /// classic protocol, a member of the same name that is still there fails. With `group.protocol=consumer` it stays: if it
    /// was killed, [`join`](MemberOptions::join) waits until its session has ended.
    pub fn instance(mut self, name: impl Into<String>) -> Self {
        self.instance = Some(name.into());
        self
    }

    /// A member that is not heard of for so long is taken for dead. The broker has bounds for it. Default: 45 s. Without
    /// effect with `group.protocol=consumer`, where the broker decides.
    pub fn session(mut self, time: Duration) -> Self {
        self.session = time;
        self
    }

    /// How often the member is heard. It hears of a rebalance as often. Default: a fifth of the session, and 3 s at most.
    pub fn heartbeat(mut self, time: Duration) -> Self {
        self.heartbeat = Some(time);
        self
    }

    /// The configuration of the client.
    fn config(&self) -> Result<ClientConfig, Error> {
        if self.topics.is_empty() {
            return Err(Error::new("a member that reads no topic: at least one must be named"));
        }
        if let Some(own) = OWN.iter().find(|own| self.properties.contains_key(**own)) {
            return Err(Error::new(format!("{own}: the member itself decides it")));
        }
        let heartbeat = self.heartbeat.unwrap_or((self.session / 5).min(Duration::from_secs(3)));
        if heartbeat >= self.session || heartbeat.is_zero() {
            let (session, least) = (self.session, Duration::from_millis(1));
            let text = format!(
                "a heartbeat of {heartbeat:?} with a session of {session:?}: from {least:?} to less than the session is allowed"
            );
            return Err(Error::new(text));
        }
        let mut config = ClientConfig::new();
        for (property, value) in &self.properties {
            config.set(property, value);
        }
        config.set("group.id", &self.group);
        config.set("enable.auto.commit", "false");
        config.set("enable.auto.offset.store", "false");
        config.set("auto.offset.reset", "error");
        config.set("enable.partition.eof", "true");
        if let Some(instance) = &self.instance {
            config.set("group.instance.id", instance);
        }
        let strategy = "partition.assignment.strategy";
        if has_newer_protocol(&config) {
            config.remove(strategy);
            return Ok(config);
        }
        if let Some(other) = config.get(strategy).filter(|name| *name != "cooperative-sticky") {
            let text = format!("{strategy}={other}: only cooperative-sticky is allowed");
            return Err(Error::new(format!("{text}, the others revoke partitions that stay")));
        }
        config.set("session.timeout.ms", self.session.as_millis().to_string());
        config.set("heartbeat.interval.ms", heartbeat.as_millis().to_string());
        Ok(config)
    }

    /// Joins the group. Not cancel safe: a dropped call may join, and leaves then.
    ///
    /// # Errors
    ///
    /// If no broker answers within 10 s, a topic does not exist, none is named, a property is wrong, or the heartbeat is not
    /// shorter than the session; with `group.protocol=consumer` also if a member of the same name is still there after 90 s.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn join(self) -> Result<Member, Error> {
        let (config, topics) = (Arc::new(self.config()?), Arc::new(self.topics));
        let end = Instant::now() + LONGEST_SESSION;
        loop {
            let (of, names) = (Arc::clone(&config), Arc::clone(&topics));
            let joining = colored::spawn_blocking(move || connect(&of, &names));
            let client = joining.await.map_err(|error| failed("the join", error))??;
            let mut member = Member::new(Calls::new(Arc::new(client)), self.session / 3);
            // With the classic protocol a static member takes the place of its predecessor at once.
            let may_be_refused = has_newer_protocol(&config) && self.instance.is_some();
            if !may_be_refused || member.enter(ANSWER).await? {
                return Ok(member);
            }
            // The refusal has ended its client for good.
            member.close().await?;
            if Instant::now() >= end {
                let name = self.instance.unwrap_or_default();
                return Err(Error::new(format!("another member of the name {name:?} is there")));
            }
            sleep(BETWEEN_JOINS).await;
        }
    }
}

fn has_newer_protocol(config: &ClientConfig) -> bool {
    config.get("group.protocol").is_some_and(|protocol| protocol == "consumer")
}

fn connect(config: &ClientConfig, topics: &BTreeSet<Arc<str>>) -> Result<Client, Error> {
    // A static member stays in its group. The id of the newer protocol is the client's own.
    let has_own_id = config.get("group.instance.id").is_some() || has_newer_protocol(config);
    let reads_uncommitted =
        config.get("isolation.level").is_some_and(|level| level == "read_uncommitted");
    let context = Context::new(!has_own_id, reads_uncommitted);
    let wake = Arc::clone(&context.wake);
    let created = config.create_with_context::<_, Client>(context);
    let mut client = created.map_err(|error| failed("the configuration", error))?;
    client.set_nonempty_callback(move || wake.notify_one());
    for topic in topics {
        let found = client.fetch_metadata(Some(topic), ANSWER);
        let found = found.map_err(|error| failed("no broker answers", error))?;
        let is_there = |of: &rdkafka::metadata::MetadataTopic| {
            of.name() == &**topic && of.error().is_none() && !of.partitions().is_empty()
        };
        if !found.topics().iter().any(is_there) {
            return Err(Error::new(format!("there is no topic {topic:?}")));
        }
    }
    let names: Vec<_> = topics.iter().map(|topic| &**topic).collect();
    client.subscribe(&names).map_err(|error| failed("the subscription", error))?;
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(options: MemberOptions) -> String {
        options.config().expect_err("it cannot be").to_string()
    }

    #[test]
    fn what_cannot_be_is_named() {
        let engine = Engine::new("127.0.0.1:1");
        let member = || engine.member("g", ["t"]);
        let second = Duration::from_secs(1);
        let text = fault(member().session(second).heartbeat(2 * second));
        assert!(text.contains("heartbeat of 2s with a session of 1s"), "{text}");
        assert!(fault(engine.member("g", [""; 0])).contains("no topic"));
        let eager = engine.clone().set("partition.assignment.strategy", "range");
        assert!(fault(eager.member("g", ["t"])).contains("range"));
        let auto = engine.clone().set("enable.auto.commit", "true");
        assert!(fault(auto.member("g", ["t"])).contains("enable.auto.commit"));
        assert!(member().config().is_ok());
        assert!(engine.set("group.protocol", "consumer").member("g", ["t"]).config().is_ok());
    }
}
