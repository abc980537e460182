//! The task of a member that writes to the bucket: its own entry, the leases that it takes and gives up, and commits.
//!
//! Invariants:
//!
//! * A lease is written only over the revision that the agent knows, so that of two members one fails.
//! * An agent that could not write its entry for a session has lost everything, before it does anything else.

use crate::engine::{Thread, failed};
use crate::lease::{Beat, Lease, lease_key, member_key};
use crate::reader::{Request, read};
use crate::table::Table;
use async_nats::jetstream::kv::{Operation, Store, UpdateErrorKind, Watch};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use async_nats::jetstream::{self, Context, ErrorCode, kv};
use bytes::Bytes;
use colored_consumer::{
    Assignment, Commit, CommitError, Committed, Error, Event, Owned, Record, TopicPartition,
};
use futures_util::StreamExt;
use futures_util::future::join_all;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// What a member hears.
#[derive(Debug)]
pub(crate) enum Told {
    Event(Event),
    /// Records that were asked for since a begin.
    Records {
        owned: Owned,
        begin: u64,
        records: Vec<Record>,
        end: u64,
    },
    /// A request is answered.
    Fetched {
        owned: Owned,
        begin: u64,
    },
    Failed(String),
}

/// What a member asks for.
pub(crate) enum Command {
    Read(Owned, Request),
    Commit(Vec<Commit>, oneshot::Sender<Result<(), CommitError>>),
    Release(Vec<Owned>, oneshot::Sender<Result<(), Error>>),
    Close(oneshot::Sender<Result<(), Error>>),
}

/// What a member is.
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) is_static: bool,
    /// With their numbers of partitions.
    pub(crate) topics: BTreeMap<Arc<str>, u32>,
    pub(crate) session: Duration,
}

/// The ends of an agent that a member has.
pub(crate) struct Joined {
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    pub(crate) told: mpsc::UnboundedReceiver<Told>,
    pub(crate) alive: oneshot::Sender<()>,
    pub(crate) thread: Arc<Thread>,
}

/// A lease of this member.
#[derive(Clone)]
struct Held {
    generation: u64,
    revision: u64,
    committed: Option<Committed>,
    is_revoked: bool,
}

/// The task that reads a partition.
struct Reading {
    begin: u64,
    requests: mpsc::UnboundedSender<Request>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Agent {
    context: Context,
    store: Store,
    settings: Settings,
    told: mpsc::UnboundedSender<Told>,
    table: Table,
    held: BTreeMap<TopicPartition, Held>,
    readings: BTreeMap<TopicPartition, Reading>,
    beat: Beat,
    /// The revision of the own entry, and of the one before.
    revisions: (u64, u64),
    /// The last own entry that the watch has shown.
    seen: u64,
    /// When the own entry was written at last. `None` if the member has to join again.
    beaten: Option<Instant>,
    watch: Option<Watch>,
    /// Another member has the name.
    is_replaced: bool,
    /// The consumer gives up what nobody has asked for: it stops.
    is_stopping: bool,
    /// The thread lives until the member has left.
    _thread: Arc<Thread>,
}

/// Why a write failed.
enum Fault {
    Fenced,
    Failed(String),
}

/// The first sequence number that the stream has, and the one after the last record of the partition.
pub(crate) async fn range(context: &Context, of: &TopicPartition) -> Result<(u64, u64), Error> {
    let stream = context.get_stream(&of.topic).await;
    let stream = stream.map_err(|error| failed(&format!("topic {:?}", of.topic), error))?;
    let start = stream.cached_info().state.first_sequence.max(1);
    let subject = format!("{}.p.{}.*", of.topic, of.partition);
    match stream.get_last_raw_message_by_subject(&subject).await {
        Ok(last) => Ok((start, last.sequence + 1)),
        Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => {
            Ok((start, start))
        }
        Err(error) => Err(failed(&format!("the end of {of}"), error)),
    }
}

/// Joins a group, and starts the agent.
pub(crate) async fn join(
    context: Context,
    store: Store,
    settings: Settings,
    thread: Arc<Thread>,
) -> Result<Joined, Error> {
    let (command_sender, commands) = mpsc::unbounded_channel();
    let (told_sender, told) = mpsc::unbounded_channel();
    let (alive_sender, alive) = oneshot::channel();
    let mut agent = Agent {
        context,
        store,
        beat: Beat { since: 0, token: String::new(), topics: Vec::new() },
        settings,
        told: told_sender,
        table: Table::default(),
        held: BTreeMap::new(),
        readings: BTreeMap::new(),
        revisions: (0, 0),
        seen: 0,
        beaten: None,
        watch: None,
        is_replaced: false,
        is_stopping: false,
        _thread: Arc::clone(&thread),
    };
    agent.enter().await.map_err(|error| failed("the join", error))?;
    thread.handle().spawn(agent.run(commands, alive));
    Ok(Joined { commands: command_sender, told, alive: alive_sender, thread })
}

impl Agent {
    async fn run(
        mut self,
        mut commands: mpsc::UnboundedReceiver<Command>,
        mut alive: oneshot::Receiver<()>,
    ) {
        let mut ticks = interval(self.settings.session / 6);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut reply = None;
        loop {
            let watch = &mut self.watch;
            let next = async move {
                match watch {
                    Some(watch) => watch.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = ticks.tick() => self.tick().await,
                command = commands.recv() => {
                    self.check_session();
                    match command {
                        Some(Command::Close(done)) => {
                            reply = Some(done);
                            break;
                        }
                        Some(command) => self.obey(command).await,
                        None => break,
                    }
                }
                _ = &mut alive => break,
                entry = next => match entry {
                    Some(Ok(entry)) => self.hear(entry).await,
                    _ => self.watch = None,
                },
            }
        }
        self.readings.clear();
        self.leave().await;
        // Nobody may wait.
        reply.map(|reply| reply.send(Ok(())));
    }

    fn tell(&self, told: Told) {
        // A member that has gone needs to hear nothing.
        let _ = self.told.send(told);
    }

    /// Writes the own entry for the first time.
    async fn enter(&mut self) -> Result<(), String> {
        let key = member_key(&self.settings.name);
        let before = self.store.entry(&key).await.map_err(|error| error.to_string())?;
        let (revision, known) = match &before {
            Some(entry) if entry.operation == Operation::Put => (
                entry.revision,
                Beat::decode(&entry.value).map_or(0, |beat| match beat.since {
                    0 => entry.revision,
                    since => since,
                }),
            ),
            Some(entry) => (entry.revision, 0),
            None => (0, 0),
        };
        let token = self.context.client().new_inbox();
        let topics = self.settings.topics.keys().map(ToString::to_string).collect();
        self.beat = Beat { since: known, token, topics };
        let start = Instant::now();
        let written = self.store.update(&key, self.beat.encode(), revision).await;
        let revision = written.map_err(|error| error.to_string())?;
        self.revisions = (revision, revision);
        if known == 0 {
            self.beat.since = revision;
        }
        self.table.forget_silence(start);
        self.beaten = Some(start);
        Ok(())
    }

    /// Writes the own entry again.
    async fn write_beat(&mut self) {
        let (key, start) = (member_key(&self.settings.name), Instant::now());
        let write = self.store.update(&key, self.beat.encode(), self.revisions.0);
        // A server that does not answer must not keep the agent from noticing the end of its session.
        match timeout(self.settings.session / 3, write).await {
            Ok(Ok(revision)) => {
                self.revisions = (revision, self.revisions.0);
                self.beaten = Some(start);
            }
            Ok(Err(error)) if matches!(error.kind(), UpdateErrorKind::WrongLastRevision) => {
                self.look_at_own_entry(&key, start).await;
            }
            _ => {}
        }
    }

    /// The own entry is another one: an earlier write came late, somebody has removed it, or another member has the name.
    async fn look_at_own_entry(&mut self, key: &str, start: Instant) {
        let Ok(entry) = self.store.entry(key).await else { return };
        let put = entry.filter(|entry| entry.operation == Operation::Put);
        let Some(entry) = put else { return self.lose_all() };
        match Beat::decode(&entry.value) {
            Some(beat) if beat.token == self.beat.token => {
                self.revisions.0 = entry.revision;
                self.beaten = Some(start);
            }
            _ => {
                self.lose_all();
                self.is_replaced = true;
            }
        }
    }

    /// The member has lost everything, and has to join again.
    fn lose_all(&mut self) {
        self.readings.clear();
        let lost = std::mem::take(&mut self.held).into_iter();
        let lost: Vec<_> = lost
            .map(|(partition, held)| Owned { partition, generation: held.generation })
            .collect();
        if !lost.is_empty() {
            self.tell(Told::Event(Event::Lost(lost)));
        }
        self.beaten = None;
    }

    fn check_session(&mut self) {
        if self.beaten.is_some_and(|beaten| beaten.elapsed() >= self.settings.session) {
            self.lose_all();
        }
    }

    async fn tick(&mut self) {
        self.check_session();
        if self.is_replaced {
            let name = &self.settings.name;
            let text =
                format!("another member has joined as {name:?}, and this one has lost everything");
            return self.tell(Told::Failed(text));
        }
        if self.beaten.is_some() {
            self.write_beat().await;
        } else if let Ok(Err(error)) = timeout(self.settings.session / 3, self.enter()).await {
            return self.tell(Told::Failed(error));
        }
        // The watch shows what this member writes, or it has died.
        if self.watch.is_none() || self.seen < self.revisions.1 {
            let watch = timeout(self.settings.session / 3, self.store.watch_with_history(">"));
            self.watch = watch.await.ok().and_then(Result::ok);
        }
        let now = Instant::now();
        for name in self.table.forgotten(self.settings.session, now) {
            // Another member may be faster.
            let _ = self.store.delete(member_key(&name)).await;
        }
        self.look_for_topics().await;
        self.balance().await;
    }

    async fn hear(&mut self, entry: kv::Entry) {
        if entry.key == member_key(&self.settings.name) {
            self.seen = self.seen.max(entry.revision);
        }
        let value = (entry.operation == Operation::Put).then_some(&entry.value[..]);
        if self.table.apply(&entry.key, value, entry.revision, Instant::now()) {
            self.balance().await;
        }
    }

    /// Loses the partitions of topics that were deleted. A topic of the same name is another topic.
    async fn look_for_topics(&mut self) {
        for topic in self.settings.topics.keys().cloned().collect::<Vec<_>>() {
            let Err(error) = self.context.get_stream(&topic).await else { continue };
            if !is_not_found(&error) {
                continue;
            }
            self.settings.topics.remove(&topic);
            self.beat.topics.retain(|name| **name != *topic);
            let gone = self.held.extract_if(.., |of, _| of.topic == topic).collect::<Vec<_>>();
            let mut lost = Vec::new();
            for (partition, held) in gone {
                self.readings.remove(&partition);
                let lease = Lease { generation: held.generation, ..Lease::default() };
                let key = lease_key(&partition);
                // Otherwise the next owner finds a place that the new stream may not have.
                let _ = self.store.update(&key, lease.encode(), held.revision).await;
                lost.push(Owned { partition, generation: held.generation });
            }
            if !lost.is_empty() {
                self.tell(Told::Event(Event::Lost(lost)));
            }
        }
    }

    /// Takes what is free, up to the share of this member, or asks for what is above it.
    async fn balance(&mut self) {
        // Without its own entry, it has not seen the others' either.
        let is_new = self.beaten.is_none() || self.seen < self.beat.since;
        if is_new || self.is_replaced || self.is_stopping {
            return;
        }
        let (session, now) = (self.settings.session, Instant::now());
        let me = self.settings.name.clone();
        for (topic, partitions) in self.settings.topics.clone() {
            let of = (&*topic, partitions);
            let share = self.table.share(&me, of, session, now);
            let own = |(partition, held): &(&TopicPartition, &Held)| {
                partition.topic == topic && !held.is_revoked
            };
            let count = self.held.iter().filter(own).count();
            if count > share {
                self.revoke(&topic, count - share);
                continue;
            }
            let free = self.table.free(&me, of, session, now).into_iter();
            let free: Vec<_> = free.filter(|(of, ..)| !self.held.contains_key(of)).collect();
            let mut assigned = Vec::new();
            for (partition, lease, revision) in free {
                if count + assigned.len() >= share {
                    break;
                }
                assigned.extend(self.take(partition, lease, revision).await);
            }
            if !assigned.is_empty() {
                self.tell(Told::Event(Event::Assigned(assigned)));
            }
        }
    }

    fn revoke(&mut self, topic: &str, count: usize) {
        let mut revoked = Vec::new();
        for (partition, held) in self.held.iter_mut().rev() {
            if *partition.topic == *topic && !held.is_revoked && revoked.len() < count {
                held.is_revoked = true;
                self.readings.remove(partition);
                let generation = held.generation;
                revoked.push(Owned { partition: partition.clone(), generation });
            }
        }
        self.tell(Told::Event(Event::Revoked(revoked)));
    }

    /// Takes a lease; `None` if another member was faster, or the server does not answer.
    async fn take(
        &mut self,
        partition: TopicPartition,
        before: Lease,
        revision: u64,
    ) -> Option<Assignment> {
        let (start, end) = range(&self.context, &partition).await.ok()?;
        let (generation, committed) = (before.generation + 1, before.committed);
        let owner = Some(self.settings.name.clone());
        let lease = Lease { owner, generation, committed: committed.clone() };
        let written = self.store.update(lease_key(&partition), lease.encode(), revision).await;
        let revision = written.ok()?;
        let held = Held { generation, revision, committed: committed.clone(), is_revoked: false };
        self.held.insert(partition.clone(), held);
        Some(Assignment { owned: Owned { partition, generation }, committed, start, end })
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Read(owned, request) => self.read(owned, request),
            Command::Commit(commits, reply) => {
                let committed = self.commit(commits).await;
                // Nobody may wait.
                let _ = reply.send(committed);
            }
            Command::Release(owned, reply) => {
                let released = self.release(owned).await;
                // Nobody may wait.
                let _ = reply.send(released);
            }
            Command::Close(_) => {}
        }
    }

    fn is_held(&self, owned: &Owned) -> bool {
        let held = self.held.get(&owned.partition);
        held.is_some_and(|held| held.generation == owned.generation)
    }

    fn read(&mut self, owned: Owned, request: Request) {
        if !self.is_held(&owned) {
            return;
        }
        let begin = request.begin;
        if self.readings.get(&owned.partition).is_none_or(|reading| reading.begin != begin) {
            let (requests, receiver) = mpsc::unbounded_channel();
            let reads = read(self.context.clone(), owned.clone(), receiver, self.told.clone());
            let reading = Reading { begin, requests, task: tokio::spawn(reads) };
            self.readings.insert(owned.partition.clone(), reading);
        }
        // It ends with this agent only.
        let _ = self.readings[&owned.partition].requests.send(request);
    }

    async fn commit(&mut self, commits: Vec<Commit>) -> Result<(), CommitError> {
        let (mut fenced, mut writes) = (Vec::new(), Vec::new());
        for Commit { owned, committed } in commits {
            if !self.is_held(&owned) {
                fenced.push(owned);
                continue;
            }
            let mut held = self.held[&owned.partition].clone();
            held.committed = Some(committed);
            let (store, owner) = (self.store.clone(), self.settings.name.clone());
            writes.push(async move {
                let owner = Some(owner);
                let written = write(&store, &owned, owner, &held).await;
                (owned, held, written)
            });
        }
        let mut failure = None;
        for (owned, held, written) in join_all(writes).await {
            match written {
                Ok(revision) => {
                    self.held.insert(owned.partition, Held { revision, ..held });
                }
                Err(Fault::Fenced) => {
                    self.held.remove(&owned.partition);
                    self.readings.remove(&owned.partition);
                    self.tell(Told::Event(Event::Lost(vec![owned.clone()])));
                    fenced.push(owned);
                }
                Err(Fault::Failed(text)) => failure = Some(text),
            }
        }
        match failure {
            Some(text) => Err(CommitError::Failed(Error::new(text))),
            None if fenced.is_empty() => Ok(()),
            None => Err(CommitError::Fenced(fenced)),
        }
    }

    async fn release(&mut self, owned: Vec<Owned>) -> Result<(), Error> {
        let mut failure = Ok(());
        for owned in owned {
            if !self.is_held(&owned) {
                continue;
            }
            self.readings.remove(&owned.partition);
            let Some(held) = self.held.remove(&owned.partition) else { continue };
            let owner = self.settings.is_static.then(|| self.settings.name.clone());
            // A static member that stops keeps its partitions for its successor, one that goes on does not.
            let owner = owner.filter(|_| !held.is_revoked);
            self.is_stopping |= !held.is_revoked;
            if let Err(Fault::Failed(text)) = write(&self.store, &owned, owner, &held).await {
                // It is free when the member is dead, and the member takes it for its own again.
                failure = Err(Error::new(text));
            }
        }
        failure
    }

    /// Leaves the group. A static member leaves its entry, so that its partitions wait for its session.
    async fn leave(&mut self) {
        let all = self.held.iter();
        let owned = all.map(|(partition, held)| Owned {
            partition: partition.clone(),
            generation: held.generation,
        });
        let all: Vec<_> = owned.collect();
        // What fails is free when the member is dead.
        let _ = self.release(all).await;
        if !self.settings.is_static && self.beaten.is_some() {
            let _ = self.store.delete(member_key(&self.settings.name)).await;
        }
    }
}

fn is_not_found(error: &jetstream::context::GetStreamError) -> bool {
    match error.kind() {
        jetstream::context::GetStreamErrorKind::JetStream(error) => {
            error.error_code() == ErrorCode::STREAM_NOT_FOUND
        }
        _ => false,
    }
}

/// Writes a lease over the revision that is known; returns the new one.
async fn write(
    store: &Store,
    owned: &Owned,
    owner: Option<String>,
    held: &Held,
) -> Result<u64, Fault> {
    let key = lease_key(&owned.partition);
    let (generation, committed) = (held.generation, held.committed.clone());
    let value: Bytes = Lease { owner: owner.clone(), generation, committed }.encode();
    let mut revision = held.revision;
    loop {
        let error = match store.update(&key, value.clone(), revision).await {
            Ok(revision) => return Ok(revision),
            Err(error) => error,
        };
        if !matches!(error.kind(), UpdateErrorKind::WrongLastRevision) {
            return Err(Fault::Failed(error.to_string()));
        }
        // An earlier write of this member whose answer was lost, or another owner's.
        let entry = store.entry(&key).await.map_err(|error| Fault::Failed(error.to_string()))?;
        let entry = entry.filter(|entry| entry.revision != revision).ok_or(Fault::Fenced)?;
        let lease = Lease::decode(&entry.value).ok_or(Fault::Fenced)?;
        if lease.generation != generation || lease.owner.is_none() {
            return Err(Fault::Fenced);
        }
        revision = entry.revision;
    }
}
