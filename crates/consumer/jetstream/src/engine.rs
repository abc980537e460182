//! [`Engine`] and [`MemberOptions`]: streams, and the join.

use crate::agent;
use crate::key;
use crate::lease::{self, Lease};
use crate::log::Log;
use crate::member::Member;
use async_nats::HeaderMap;
use async_nats::jetstream::stream::{self, SubjectTransform};
use async_nats::jetstream::{self, Context, kv};
use bytes::Bytes;
use colored::time::Duration;
use colored_consumer::{Committed, Error, TopicPartition};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The time for which a member need not be heard.
const SESSION: Duration = Duration::from_secs(10);

/// The longest session.
const DAY: Duration = Duration::from_secs(86_400);

/// How long a server may take to answer, and to confirm a record. Its disk may be busy. The agents of members wait for less.
const ANSWER: Duration = Duration::from_secs(30);

/// So many records are published before the first of them is confirmed. A guess.
const UNCONFIRMED: usize = 256;

/// What a stream says of its number of partitions.
const PARTITIONS: &str = "colored-partitions";

/// The thread with tokio. It ends with the last of those that need it.
pub(crate) struct Thread(Option<tokio::runtime::Runtime>);

impl Drop for Thread {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(tokio::runtime::Runtime::shutdown_background);
    }
}

impl Thread {
    /// Runs a future on the thread. Cancel safe, but the future goes on.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        self.handle().spawn(future).await.unwrap_or_else(|error| Err(failed("a task", error)))
    }

    pub(crate) fn handle(&self) -> &tokio::runtime::Handle {
        self.0.as_ref().expect("it is taken at the end").handle()
    }
}

pub(crate) fn failed(what: &str, error: impl fmt::Display) -> Error {
    Error::new(format!("{what}: {error}"))
}

/// A NATS server, or a cluster of them, with JetStream. Clones share a connection.
#[derive(Clone)]
pub struct Engine {
    context: Context,
    thread: Arc<Thread>,
    replicas: usize,
    /// Spreads records without a key.
    next: Arc<AtomicU64>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("replicas", &self.replicas).finish_non_exhaustive()
    }
}

impl Engine {
    /// Connects to servers: `host:port`, separated by commas. Not cancel safe: a dropped call may connect, and disconnects
    /// then.
    ///
    /// # Errors
    ///
    /// If no server answers, or the system refuses a thread.
    pub async fn connect(servers: &str) -> Result<Engine, Error> {
        Self::connect_with(servers, async_nats::ConnectOptions::new()).await
    }

    /// As [`connect`](Self::connect), with options of the client, such as credentials. Not cancel safe.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn connect_with(
        servers: &str,
        options: async_nats::ConnectOptions,
    ) -> Result<Engine, Error> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let built = builder.worker_threads(1).thread_name("jetstream").enable_all().build();
        let thread = Arc::new(Thread(Some(built.map_err(|error| failed("a thread", error))?)));
        let servers: Vec<String> = servers.split(',').map(str::to_owned).collect();
        let connected = thread.run(async move {
            let client = options.connect(servers).await;
            let client = client.map_err(|error| failed("no server answers", error))?;
            // It starts a task.
            let builder = jetstream::ContextBuilder::new().timeout(ANSWER).ack_timeout(ANSWER);
            Ok(builder.build(client))
        });
        let context = connected.await?;
        Ok(Engine { context, thread, replicas: 1, next: Arc::default() })
    }

    /// How many servers of a cluster keep each new stream and bucket. Default: 1.
    #[must_use]
    pub fn replicas(mut self, count: usize) -> Self {
        self.replicas = count;
        self
    }

    /// Makes the stream of a topic. Nothing happens if it has as many partitions. Not cancel safe: a dropped call may make
    /// it.
    ///
    /// # Errors
    ///
    /// If the name is no name of a stream, the topic has another number of partitions, or the server refuses.
    pub async fn create_topic(&self, name: &str, partitions: u32) -> Result<(), Error> {
        check_name("a topic", name)?;
        let config = stream::Config {
            name: name.to_owned(),
            subjects: vec![format!("{name}.in.*"), format!("{name}.p.*.*")],
            subject_transform: Some(SubjectTransform {
                source: format!("{name}.in.*"),
                destination: format!(
                    "{name}.p.{{{{partition({partitions},1)}}}}.{{{{wildcard(1)}}}}"
                ),
            }),
            metadata: [(PARTITIONS.to_owned(), partitions.to_string())].into(),
            num_replicas: self.replicas,
            ..stream::Config::default()
        };
        let (context, topic) = (self.context.clone(), name.to_owned());
        let made = self.thread.run(async move {
            let stream = context.get_or_create_stream(config).await;
            let mut stream = stream.map_err(|error| failed(&format!("topic {topic:?}"), error))?;
            let info = stream.info().await.map_err(|error| failed("the stream", error))?;
            partitions_of(info)
        });
        match made.await? {
            count if count == partitions => Ok(()),
            count => Err(Error::new(format!(
                "topic {name:?} has {count} partitions, and cannot get {partitions}"
            ))),
        }
    }

    /// Deletes the stream of a topic with its records. What groups have committed stays in their buckets. Not cancel safe: a
    /// dropped call may delete it.
    ///
    /// # Errors
    ///
    /// If there is none, or the server refuses.
    pub async fn delete_topic(&self, name: &str) -> Result<(), Error> {
        let (context, name) = (self.context.clone(), name.to_owned());
        let deleted = async move {
            let deleted = context.delete_stream(&name).await;
            deleted.map(drop).map_err(|error| failed(&format!("topic {name:?}"), error))
        };
        self.thread.run(deleted).await
    }

    /// Deletes the records of a topic below an offset, as a limit of its stream does. Not cancel safe: a dropped call may
    /// delete them.
    ///
    /// # Errors
    ///
    /// If there is no such topic, or the server refuses.
    pub async fn delete_before(&self, topic: &str, offset: u64) -> Result<(), Error> {
        let (context, topic) = (self.context.clone(), topic.to_owned());
        let deleted = async move {
            let stream = context.get_stream(&topic).await;
            let stream = stream.map_err(|error| failed(&format!("topic {topic:?}"), error))?;
            let deleted = stream.purge().sequence(offset).await;
            deleted.map(drop).map_err(|error| failed("old records", error))
        };
        self.thread.run(deleted).await
    }

    /// The subject to which a record with this key is to be published.
    #[must_use]
    pub fn subject(topic: &str, key: &[u8]) -> String {
        format!("{topic}.in.{}", key::encode(key))
    }

    /// Publishes a record, and waits until the stream has it; returns its offset. Cancel safe, but a dropped call may still
    /// publish.
    ///
    /// # Errors
    ///
    /// If there is no such topic, or the server refuses.
    pub async fn send(
        &self,
        topic: &str,
        key: Option<&[u8]>,
        value: impl Into<Bytes>,
    ) -> Result<u64, Error> {
        let token = self.token(key);
        self.publish(format!("{topic}.in.{token}"), value.into()).await
    }

    /// As [`send`](Self::send), to a partition that the caller chooses. Cancel safe, but a dropped call may still publish.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn send_to(
        &self,
        of: &TopicPartition,
        key: Option<&[u8]>,
        value: impl Into<Bytes>,
    ) -> Result<u64, Error> {
        let token = self.token(key);
        self.publish(format!("{}.p.{}.{token}", of.topic, of.partition), value.into()).await
    }

    /// Publishes records in this order, and waits until the stream has them. Cancel safe, but a dropped call may still publish
    /// some.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send). Some of the records may be in the stream then.
    pub async fn send_all<K: AsRef<[u8]>, V: Into<Bytes>>(
        &self,
        topic: &str,
        records: impl IntoIterator<Item = (Option<K>, V)>,
    ) -> Result<(), Error> {
        let subject =
            |key: Option<K>| format!("{topic}.in.{}", self.token(key.as_ref().map(AsRef::as_ref)));
        let records = records.into_iter().map(|(key, value)| (subject(key), value.into()));
        let (records, context): (Vec<_>, _) = (records.collect(), self.context.clone());
        let published = async move {
            let mut unconfirmed = VecDeque::new();
            for (subject, value) in records {
                let sent = context.publish(subject, value).await;
                unconfirmed
                    .push_back(sent.map_err(|error| failed("a record", error))?.into_future());
                if unconfirmed.len() >= UNCONFIRMED
                    && let Some(first) = unconfirmed.pop_front()
                {
                    first.await.map_err(|error| failed("a record", error))?;
                }
            }
            for last in unconfirmed {
                last.await.map_err(|error| failed("a record", error))?;
            }
            Ok(())
        };
        self.thread.run(published).await
    }

    fn token(&self, key: Option<&[u8]>) -> String {
        // Ordering: the numbers are different, whatever their order.
        let number = || self.next.fetch_add(1, Ordering::Relaxed);
        key.map_or_else(|| key::without_key(number()), key::encode)
    }

    async fn publish(&self, subject: String, value: Bytes) -> Result<u64, Error> {
        let context = self.context.clone();
        let published = async move {
            let sent = context.publish_with_headers(subject, HeaderMap::new(), value).await;
            let sent = sent.map_err(|error| failed("a record", error))?;
            Ok(sent.await.map_err(|error| failed("a record", error))?.sequence)
        };
        self.thread.run(published).await
    }

    /// How far a group is in a partition. Cancel safe.
    ///
    /// # Errors
    ///
    /// If there is no such group, or the server does not answer.
    pub async fn committed(
        &self,
        group: &str,
        of: &TopicPartition,
    ) -> Result<Option<Committed>, Error> {
        let (context, group, of) = (self.context.clone(), group.to_owned(), of.clone());
        let found = async move {
            let store = context.get_key_value(bucket(&group)).await;
            let store = store.map_err(|error| failed(&format!("group {group:?}"), error))?;
            let entry = store.get(lease::lease_key(&of)).await;
            let entry = entry.map_err(|error| failed("an entry", error))?;
            Ok(entry.and_then(|entry| Lease::decode(&entry)).and_then(|lease| lease.committed))
        };
        self.thread.run(found).await
    }

    /// The offset after the last record of a partition; 0 if it has none. Cancel safe.
    ///
    /// # Errors
    ///
    /// If there is no such topic, or the server does not answer.
    pub async fn end(&self, of: &TopicPartition) -> Result<u64, Error> {
        let (context, of) = (self.context.clone(), of.clone());
        let found = async move { Log::of(&context, &of.topic).await?.end(&of).await };
        Ok(self.thread.run(found).await?.unwrap_or(0))
    }

    /// A member of a group that reads these topics: set its options, and let it join.
    pub fn member<T: Into<Arc<str>>>(
        &self,
        group: &str,
        topics: impl IntoIterator<Item = T>,
    ) -> MemberOptions {
        MemberOptions {
            engine: self.clone(),
            group: group.to_owned(),
            topics: topics.into_iter().map(Into::into).collect(),
            instance: None,
            session: SESSION,
        }
    }
}

fn bucket(group: &str) -> String {
    format!("colored-{group}")
}

fn check_name(what: &str, name: &str) -> Result<(), Error> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !name.is_empty() && name.bytes().all(is_good) {
        return Ok(());
    }
    Err(Error::new(format!("{what} named {name:?}: letters, digits, - and _ are allowed")))
}

pub(crate) fn partitions_of(info: &stream::Info) -> Result<u32, Error> {
    let found = info.config.metadata.get(PARTITIONS).and_then(|count| count.parse().ok());
    let name = &info.config.name;
    found.ok_or_else(|| Error::new(format!("the stream {name:?} was not made as a topic")))
}

/// The options of a member that is to join a group.
#[derive(Clone, Debug)]
#[must_use = "a member joins by `join`"]
pub struct MemberOptions {
    engine: Engine,
    group: String,
    topics: BTreeSet<Arc<str>>,
    instance: Option<String>,
    session: Duration,
}

impl MemberOptions {
    /// A static member: when it leaves, its partitions wait for the next member of this name until its session ends. A
    /// member of the same name that is still there loses everything, and fails.
    pub fn instance(mut self, name: impl Into<String>) -> Self {
        self.instance = Some(name.into());
        self
    }

    /// A member that is not heard of for so long is taken for dead. It writes its entry six times in that time. Default: 10
    /// s.
    pub fn session(mut self, time: Duration) -> Self {
        self.session = time;
        self
    }

    /// Joins the group, and makes its bucket if needed. Not cancel safe: a dropped call may leave a member behind until its
    /// session ends.
    ///
    /// # Errors
    ///
    /// If a topic does not exist, none is named, a name has other characters than letters, digits, `-` and `_`, the session
    /// is shorter than 300 ms or longer than a day, or the server refuses.
    pub async fn join(self) -> Result<Member, Error> {
        let MemberOptions { engine, group, topics, instance, session } = self;
        check_name("a group", &group)?;
        if let Some(name) = &instance {
            check_name("a member", name)?;
        }
        if !(Duration::from_millis(300)..=DAY).contains(&session) {
            let text = format!("a session of {session:?}: 300 ms to a day are allowed");
            return Err(Error::new(text));
        }
        if topics.is_empty() {
            return Err(Error::new("a member that reads no topic: at least one must be named"));
        }
        let (context, replicas) = (engine.context.clone(), engine.replicas);
        let found = engine.thread.run(async move {
            let mut counts = BTreeMap::new();
            for topic in topics {
                let stream = context.get_stream(&topic).await;
                let stream = stream
                    .map_err(|error| failed(&format!("there is no topic {topic:?}"), error))?;
                counts.insert(topic, partitions_of(stream.cached_info())?);
            }
            let config = kv::Config {
                bucket: bucket(&group),
                num_replicas: replicas,
                ..kv::Config::default()
            };
            let store = match context.get_key_value(bucket(&group)).await {
                Ok(store) => store,
                Err(_) => {
                    let made = context.create_key_value(config).await;
                    made.map_err(|error| failed(&format!("group {group:?}"), error))?
                }
            };
            Ok((counts, store))
        });
        let (topics, store) = found.await?;
        let name = match &instance {
            Some(name) => name.clone(),
            None => engine.context.client().new_inbox().replace(['.', '$'], "-"),
        };
        let settings = agent::Settings { name, is_static: instance.is_some(), topics, session };
        let joined =
            agent::join(engine.context.clone(), store, settings, Arc::clone(&engine.thread));
        Ok(Member::new(engine.thread.run(joined).await?))
    }
}
