//! The task of a member that writes to the bucket: its own entry, the leases that it takes and gives up, and commits.
//!
//! Invariants:
//!
//! * A lease is written only over the revision that the agent knows, so that of two members one fails.
//! * A member that could not write its entry for a session has lost everything: what its agent does then is dropped, wherever
//!   it waits. So what is to be told whatever the server answers is told before the wait.
//! * No wait of the agent, however long, keeps the entry from being written. Commits and reads do wait, for three sessions at
//!   most: a tick asks nine questions one after the other, each within a third of a session, and those of a kind side by side.
//! * A lease in the name of a member that the member does not hold is taken or given up, whatever has left it there.
//! * Leases that are taken side by side are told together when the last of them is answered, and never when the session is over.

mod balance;
mod beat;
mod write;

pub(crate) use self::write::Shared;

use self::beat::Membership;
use self::write::{Fault, Held, write};
use crate::engine::{Thread, failed};
use crate::lease::member_key;
use crate::log::Log;
use crate::reader::{Reader, Request};
use crate::table::Table;
use async_nats::jetstream::Context;
use async_nats::jetstream::kv::{Entry, Operation, Store, Watch};
use colored_consumer::{Commit, CommitError, Error, Event, Extent, Owned, Record, TopicPartition};
use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::task::unconstrained;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

/// How long a search for the records of a time may take.
const LOOK_UP: Duration = Duration::from_secs(30);

/// What a member hears.
#[derive(Debug)]
pub(crate) enum Told {
    Event(Event),
    /// Records that were asked for since a begin, and where the next ones begin.
    Records {
        owned: Owned,
        begin: u64,
        records: Vec<Record>,
        next: u64,
        end: u64,
    },
    /// The partition is read no further: it failed, or its log has not the place.
    Stopped {
        owned: Owned,
        begin: u64,
        event: Event,
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
    Extents(Vec<Owned>, oneshot::Sender<Extents>),
    /// The first records with a time or a later one.
    Find(Vec<Owned>, i64, oneshot::Sender<Places>),
    Close(oneshot::Sender<Result<(), Error>>),
}

/// What the logs of partitions have.
pub(crate) type Extents = Result<Vec<Option<Extent>>, Error>;

/// Places in the logs of partitions.
pub(crate) type Places = Result<Vec<Option<u64>>, Error>;

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
    /// `None` if the member has to join again.
    membership: Option<Membership>,
    /// Tells it from another one of its name.
    token: String,
    /// The last own entry of the membership before. What an earlier process has left may be of any revision.
    last: u64,
    /// The last own entry that the watch has shown.
    seen: u64,
    watch: Option<Watch>,
    /// How many leases could not be taken, one after the other.
    failed: usize,
    /// Another member has the name.
    is_replaced: bool,
    /// The consumer gives up what nobody has asked for: it stops.
    is_stopping: bool,
    /// The thread lives until the member has left.
    _thread: Arc<Thread>,
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
    let token = context.client().new_inbox();
    let mut agent = Agent {
        context,
        store,
        settings,
        told: told_sender,
        table: Table::default(),
        held: BTreeMap::new(),
        readings: BTreeMap::new(),
        membership: None,
        token,
        last: u64::MAX,
        seen: 0,
        watch: None,
        failed: 0,
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
        let reply = loop {
            let ended = Membership::ended(self.membership.as_ref());
            tokio::select! {
                biased;
                () = ended => self.lose_all(),
                step = self.step(&mut ticks, &mut commands, &mut alive) => {
                    if let ControlFlow::Break(reply) = step {
                        break reply;
                    }
                }
            }
        };
        self.readings.clear();
        self.leave().await;
        // Nobody may wait.
        reply.map(|reply| reply.send(Ok(())));
    }

    /// The agent waits for something to do, and does it. It breaks if the member is to leave, with whom to tell.
    async fn step(
        &mut self,
        ticks: &mut Interval,
        commands: &mut mpsc::UnboundedReceiver<Command>,
        alive: &mut oneshot::Receiver<()>,
    ) -> ControlFlow<Option<oneshot::Sender<Result<(), Error>>>> {
        let watch = &mut self.watch;
        let next = async move {
            match watch {
                Some(watch) => watch.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = ticks.tick() => {
                self.tick().await;
                // However long it took: the others come, too.
                ticks.reset();
            }
            command = commands.recv() => match command {
                Some(Command::Close(reply)) => return ControlFlow::Break(Some(reply)),
                Some(command) => self.obey(command).await,
                None => return ControlFlow::Break(None),
            },
            _ = alive => return ControlFlow::Break(None),
            entry = next => match entry {
                Some(Ok(entry)) => self.hear(entry).await,
                _ => self.watch = None,
            },
        }
        ControlFlow::Continue(())
    }

    /// Joins the group, or joins it again.
    async fn enter(&mut self) -> Result<(), String> {
        let begun = Membership::begin(&self.store, &self.settings, &self.token, self.last);
        self.membership = begun.await?;
        self.is_replaced = self.membership.is_none();
        // The bucket may be another one, which counts from the beginning: only what it shows from now on counts.
        (self.seen, self.watch, self.table) = (0, None, Table::default());
        Ok(())
    }

    /// How long an answer of the server may take: commands wait meanwhile.
    fn limit(&self) -> Duration {
        self.settings.session / 3
    }

    fn tell(&self, told: Told) {
        // A member that has gone needs to hear nothing.
        let _ = self.told.send(told);
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
        if let Some(membership) = self.membership.take() {
            let written = membership.written();
            self.last = written.revision;
            self.is_replaced |= written.is_replaced;
        }
    }

    async fn tick(&mut self) {
        if self.is_replaced {
            let name = &self.settings.name;
            let text =
                format!("another member has joined as {name:?}, and this one has lost everything");
            return self.tell(Told::Failed(text));
        }
        let Some(membership) = &self.membership else {
            if self.is_stopping {
                return;
            }
            // Two questions.
            if let Ok(Err(error)) = timeout(2 * self.limit(), self.enter()).await {
                self.tell(Told::Failed(error));
            }
            return;
        };
        // It may have waited for a while.
        let before = membership.written().before;
        self.drain();
        // The watch shows what this member writes, or it has died.
        if self.watch.is_none() || self.seen < before {
            let watch = timeout(self.limit(), self.store.watch_with_history(">"));
            self.watch = watch.await.ok().and_then(Result::ok);
        }
        self.forget().await;
        self.look_for_topics().await;
        self.release_again().await;
        self.balance().await;
    }

    /// Deletes the entries of members that nobody needs.
    async fn forget(&mut self) {
        let forgotten = self.table.forgotten(self.settings.session, Instant::now()).into_iter();
        let (limit, store) = (self.limit(), &self.store);
        let delete = async |(name, revision): (String, u64)| {
            // It may live after all, and another member may be faster.
            let deleted = store.delete_expect_revision(member_key(&name), Some(revision));
            let _ = timeout(limit, deleted).await;
        };
        join_all(forgotten.map(delete)).await;
    }

    async fn hear(&mut self, entry: Entry) {
        let moves = self.see(&entry);
        if self.drain() || moves {
            self.balance().await;
        }
    }

    /// Takes what the watch has. Returns whether something may have to move.
    fn drain(&mut self) -> bool {
        let mut moves = false;
        while let Some(watch) = &mut self.watch
            && let Some(next) = unconstrained(watch.next()).now_or_never()
        {
            match next {
                Some(Ok(entry)) => moves |= self.see(&entry),
                _ => self.watch = None,
            }
        }
        moves
    }

    fn see(&mut self, entry: &Entry) -> bool {
        if entry.key == member_key(&self.settings.name) {
            self.seen = self.seen.max(entry.revision);
        }
        self.apply(&entry.key, Some(entry))
    }

    /// Takes what the server says of a key. Returns whether something may have to move.
    fn apply(&mut self, key: &str, entry: Option<&Entry>) -> bool {
        let put = entry.filter(|entry| entry.operation == Operation::Put);
        let revision = entry.map_or(0, |entry| entry.revision);
        self.table.apply(key, put.map(|entry| &entry.value[..]), revision, Instant::now())
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
            Command::Extents(owned, reply) => {
                let found = extents(self.context.clone(), self.known(owned));
                self.answer(self.limit(), found, reply);
            }
            Command::Find(owned, timestamp, reply) => {
                let found = places(self.context.clone(), self.known(owned), timestamp);
                // Some thirty questions, and none of them is for the agent.
                self.answer(LOOK_UP, found, reply);
            }
            Command::Close(_) => {}
        }
    }

    /// What is known of the logs of these partitions; nothing of those that are not held.
    fn known(&self, owned: Vec<Owned>) -> Vec<(Option<Shared>, TopicPartition)> {
        let held = |owned: &Owned| Some(self.held(owned)?.known.clone());
        owned.into_iter().map(|owned| (held(&owned), owned.partition)).collect()
    }

    /// Answers when the server has. The agent goes on meanwhile.
    fn answer<T: Send + 'static>(
        &self,
        limit: Duration,
        found: impl Future<Output = Result<T, Error>> + Send + 'static,
        reply: oneshot::Sender<Result<T, Error>>,
    ) {
        tokio::spawn(async move {
            let found = timeout(limit, found).await;
            let late = |_| Err(Error::new("the server does not answer"));
            // Nobody may wait.
            let _ = reply.send(found.unwrap_or_else(late));
        });
    }

    fn held(&self, owned: &Owned) -> Option<&Held> {
        self.held.get(&owned.partition).filter(|held| held.generation == owned.generation)
    }

    fn read(&mut self, owned: Owned, request: Request) {
        let Some(held) = self.held(&owned) else { return };
        let (known, begin) = (held.known.clone(), request.begin);
        if self.readings.get(&owned.partition).is_none_or(|reading| reading.begin != begin) {
            let (requests, receiver) = mpsc::unbounded_channel();
            let partitions =
                self.settings.topics.get(&owned.partition.topic).map_or(0, |count| *count);
            let reader = Reader::new(self.context.clone(), owned.clone(), partitions, known);
            let task = tokio::spawn(reader.read(receiver, self.told.clone()));
            let reading = Reading { begin, requests, task };
            self.readings.insert(owned.partition.clone(), reading);
        }
        // It ends with this agent only.
        let _ = self.readings[&owned.partition].requests.send(request);
    }

    async fn commit(&mut self, commits: Vec<Commit>) -> Result<(), CommitError> {
        let (mut fenced, mut writes) = (Vec::new(), Vec::new());
        for Commit { owned, committed } in commits {
            let Some(mut held) = self.held(&owned).cloned() else {
                fenced.push(owned);
                continue;
            };
            held.committed = Some(committed);
            let (store, owner) = (self.store.clone(), self.settings.name.clone());
            let limit = self.limit();
            writes.push(async move {
                let owner = Some(owner);
                let written = write(&store, &owned, owner, &held, limit).await;
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

    async fn release(&mut self, all: Vec<Owned>) -> Result<(), Error> {
        let (limit, mut writes) = (self.limit(), Vec::new());
        for owned in all {
            if self.held(&owned).is_none() {
                continue;
            }
            self.readings.remove(&owned.partition);
            let Some(held) = self.held.remove(&owned.partition) else { continue };
            let owner = self.settings.is_static.then(|| self.settings.name.clone());
            // A static member that stops keeps its partitions for its successor, one that goes on does not.
            let owner = owner.filter(|_| !held.is_revoked);
            self.is_stopping |= !held.is_revoked;
            let store = self.store.clone();
            writes.push(async move {
                let written = write(&store, &owned, owner, &held, limit).await;
                (owned, held, written)
            });
        }
        let mut failure = Ok(());
        for (owned, held, written) in join_all(writes).await {
            if let Err(Fault::Failed(text)) = written {
                // The next try finds it: that of the consumer, or that of the next tick.
                self.held.insert(owned.partition, Held { is_released: true, ..held });
                failure = Err(Error::new(text));
            }
        }
        failure
    }

    /// Gives up what could not be given up before.
    async fn release_again(&mut self) {
        let released = self.held.iter().filter(|(_, held)| held.is_released);
        let released = released.map(|(partition, held)| Owned {
            partition: partition.clone(),
            generation: held.generation,
        });
        let released: Vec<_> = released.collect();
        // What fails is tried again.
        let _ = self.release(released).await;
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
        if !self.settings.is_static {
            // Its writer ends. If the member is lost, a write of its entry may have come late all the same.
            self.membership = None;
            let key = member_key(&self.settings.name);
            let _ = timeout(self.limit(), self.store.delete(key)).await;
        }
    }
}

async fn places(
    context: Context,
    all: Vec<(Option<Shared>, TopicPartition)>,
    timestamp: i64,
) -> Places {
    let one = async |(known, of): (Option<Shared>, TopicPartition)| {
        if known.is_none() {
            return Ok(None);
        }
        let log = Log::of(&context, &of.topic).await?;
        let end = log.extent(log.end(&of).await?, None).end;
        Ok(Some(log.find(&of, end, timestamp).await?))
    };
    join_all(all.into_iter().map(one)).await.into_iter().collect()
}

async fn extents(context: Context, all: Vec<(Option<Shared>, TopicPartition)>) -> Extents {
    let one = async |(known, of): (Option<Shared>, TopicPartition)| {
        let Some(known) = known else { return Ok(None) };
        let log = Log::of(&context, &of.topic).await?;
        let end = log.end(&of).await?;
        let identity = known.lock().identity;
        Ok(Some(log.extent(end, identity)))
    };
    join_all(all.into_iter().map(one)).await.into_iter().collect()
}
