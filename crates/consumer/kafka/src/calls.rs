//! The calls that wait for the broker, one at a time, on a blocking thread; and [`KafkaControl`].
//!
//! Invariants:
//!
//! * A hand-over ends behind the commit that is under way, so a commit of a partition is never sent in a generation that
//!   the member got after it.
//! * No list of the client outlives its call: the client waits for such lists when it ends.

use crate::context::{Change, Client, Context, add, list, lock, log_error};
use crate::lookups::{Answers, extents, find, prepare};
use crate::ownership::Finished;
use crate::sys;
use colored::sync::Mutex;
use colored_consumer::{Commit, CommitError, Control, Error, Extent, Owned, TopicPartition};
use rdkafka::consumer::Consumer;
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Offset, TopicPartitionList};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the broker may take to say what it has.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);

/// How often a commit is sent again when the group has a new generation, and after which time.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(25);

/// How often a member that leaves looks for its id.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The calls of a member.
#[derive(Clone)]
pub(crate) struct Calls {
    client: Arc<std::sync::Mutex<Option<Arc<Client>>>>,
    pub(crate) context: Arc<Context>,
    turn: Arc<Mutex<()>>,
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").finish_non_exhaustive()
    }
}

pub(crate) fn failed(what: &str, error: impl fmt::Display) -> Error {
    Error::new(format!("{what}: {error}"))
}

impl Calls {
    pub(crate) fn new(client: Arc<Client>) -> Calls {
        let context = Arc::clone(client.context());
        let client = Arc::new(std::sync::Mutex::new(Some(client)));
        Calls { client, context, turn: Arc::default() }
    }

    pub(crate) fn client(&self) -> Option<Arc<Client>> {
        lock(&self.client).clone()
    }

    /// Waits for the others, and calls. `None` if the member has left.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Client) -> T + Send + 'static,
    ) -> Option<T> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let client = self.client()?;
        let called = colored::spawn_blocking(move || {
            let result = call(&client);
            drop(client);
            drop(turn);
            result
        });
        called.await.ok()
    }

    /// Ends the hand-over that is complete, if there is one.
    pub(crate) async fn finish(&self) {
        let context = Arc::clone(&self.context);
        // A member that has left has nothing to hand over.
        let again = self.run(move |client| finish(client, &context)).await.unwrap_or_default();
        if !again.is_empty() {
            let _detached = colored::spawn_unique(prepare(self.clone(), again));
        }
    }

    /// Leaves the group. Waits for the call that is under way.
    pub(crate) async fn close(&self) -> Result<(), Error> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let calls = self.clone();
        let left = colored::spawn_blocking(move || {
            calls.leave();
            drop(turn);
        });
        left.await.map_err(|error| failed("the member did not leave", error))
    }

    /// Leaves the group. The last reference to the client, which may be that of a call, waits for the client's threads.
    fn leave(&self) {
        if let Some(client) = self.take_client() {
            leave(&client);
        }
    }

    /// Leaves the group, on a thread of its own, unless the member has left.
    pub(crate) fn leave_aside(&self) {
        let Some(client) = self.take_client() else { return };
        if let Err(error) = std::thread::Builder::new().spawn(move || leave(&client)) {
            eprintln!("colored-consumer-kafka: the member leaves late: {error}");
        }
    }

    /// From now on the client may end: it waits until each revocation has its answer, which nobody but itself gives.
    fn take_client(&self) -> Option<Arc<Client>> {
        self.context.close();
        lock(&self.client).take()
    }
}

fn leave(client: &Client) {
    let context = client.context();
    // A revocation that nobody will hear of any more, or that was not complete.
    while let Some(change) = context.pop() {
        if let Change::Revoked(partitions, _) = change {
            lock(&context.ownership).revoke(partitions, true);
        }
    }
    lock(&context.ownership).lose_revoked();
    finish(client, context);
    if context.must_leave {
        leave_group(client);
    }
}

/// A client that ends in the middle of a join does not leave, and the broker waits a whole session for it: it has asked for
/// an id or for its share. So the join is waited for, and the request to leave: with that the client forgets its id.
fn leave_group(client: &Client) {
    let end = Instant::now() + ANSWER;
    let wait_for_id = |is_there: bool| {
        while sys::has_id(client) != is_there && Instant::now() < end {
            drop(client.poll(BETWEEN_LOOKS));
        }
    };
    wait_for_id(true);
    client.unsubscribe();
    wait_for_id(false);
}

/// The client fetches these partitions no longer. It would remember that they are paused, and fetch nothing when the member
/// gets them again.
pub(crate) fn unassign(client: &Client, partitions: &[TopicPartition]) {
    let list = list(partitions);
    log_error("the end of a pause", client.resume(&list));
    log_error("the end of a partition", client.incremental_unassign(&list));
}

/// Returns what the member has again.
fn finish(client: &Client, context: &Context) -> Vec<Owned> {
    // Held until the client has it, so that no partition begins meanwhile.
    let mut ownership = lock(&context.ownership);
    let Some(Finished { fetched, again }) = ownership.finish() else { return Vec::new() };
    unassign(client, &fetched);
    again
}

/// Commits and releases for a [`Member`](crate::Member).
#[derive(Clone, Debug)]
pub struct KafkaControl {
    pub(crate) calls: Calls,
}

impl Control for KafkaControl {
    async fn commit(&self, commits: Vec<Commit>) -> Result<(), CommitError> {
        let context = Arc::clone(&self.calls.context);
        let all: Vec<_> = commits.iter().map(|commit| commit.owned.clone()).collect();
        let committed = self.calls.run(move |client| commit(client, &context, commits)).await;
        // A member that has left owns nothing.
        committed.unwrap_or(Err(CommitError::Fenced(all)))
    }

    async fn release(&self, owned: Vec<Owned>) -> Result<(), Error> {
        let is_complete = lock(&self.calls.context.ownership).release(&owned);
        if is_complete {
            self.calls.finish().await;
        }
        Ok(())
    }

    async fn extents(&self, owned: Vec<Owned>) -> Result<Vec<Option<Extent>>, Error> {
        self.look_up(owned, extents).await
    }

    async fn find(&self, owned: Vec<Owned>, timestamp: i64) -> Result<Vec<Option<u64>>, Error> {
        let ask = move |client: &Client, context: &Context, asked: &[Owned]| {
            find(client, context, asked, timestamp)
        };
        self.look_up(owned, ask).await
    }
}

impl KafkaControl {
    /// Asks the brokers about the partitions that the member owns.
    async fn look_up<T: Clone + Send + 'static>(
        &self,
        owned: Vec<Owned>,
        ask: impl FnOnce(&Client, &Context, &[Owned]) -> Answers<T> + Send + 'static,
    ) -> Result<Vec<Option<T>>, Error> {
        let context = Arc::clone(&self.calls.context);
        let look_up = move |client: &Client| {
            let is_owned = |owned: &Owned| lock(&context.ownership).is_owned(owned);
            let (asked, _): (Vec<_>, Vec<_>) = owned.iter().cloned().partition(is_owned);
            let found: Result<Vec<_>, _> = ask(client, &context, &asked)?.into_iter().collect();
            let found: BTreeMap<_, _> = asked.into_iter().zip(found?).collect();
            Ok(owned.iter().map(|owned| found.get(owned).cloned()).collect())
        };
        let left = || Err(Error::new("the member has left its group"));
        self.calls.run(look_up).await.unwrap_or_else(left)
    }
}

fn commit(client: &Client, context: &Context, commits: Vec<Commit>) -> Result<(), CommitError> {
    if must_look(context, &commits) {
        look_at_logs(client, context, &commits)?;
    }
    let is_owned = |commit: &Commit| {
        let mut ownership = lock(&context.ownership);
        let is_place = ownership.is_log(&commit.owned, commit.committed.log);
        is_place && ownership.is_owned(&commit.owned)
    };
    let (commits, gone): (Vec<_>, Vec<_>) = commits.into_iter().partition(is_owned);
    let mut fenced: Vec<_> = gone.into_iter().map(|commit| commit.owned).collect();
    if !commits.is_empty() {
        let list = commit_list(&commits).map_err(CommitError::Failed)?;
        let results = send_commit(client, &list).map_err(CommitError::Failed)?;
        for (commit, code) in commits.into_iter().zip(results) {
            match code {
                None => {}
                // The topic was deleted, and may be made again; or the broker does not know it yet.
                Some(RDKafkaErrorCode::UnknownTopicOrPartition) => {
                    lock(&context.ownership).doubt_log(&commit.owned);
                    fenced.push(commit.owned);
                }
                Some(code) => {
                    return Err(CommitError::Failed(failed(
                        &commit.owned.partition.to_string(),
                        code,
                    )));
                }
            }
        }
    }
    if fenced.is_empty() { Ok(()) } else { Err(CommitError::Fenced(fenced)) }
}

/// A topic that was made again may be why its partitions are revoked, or why a commit was refused: then these commits are of the
/// one before.
fn must_look(context: &Context, commits: &[Commit]) -> bool {
    let mut ownership = lock(&context.ownership);
    ownership.is_revoking() || commits.iter().any(|commit| ownership.is_doubtful(&commit.owned))
}

fn look_at_logs(client: &Client, context: &Context, commits: &[Commit]) -> Result<(), CommitError> {
    let of = |commit: &Commit| Arc::clone(&commit.owned.partition.topic);
    let names: BTreeSet<_> = commits.iter().map(of).collect();
    let topics = sys::describe_topics(client, &names.into_iter().collect::<Vec<_>>());
    let topics = topics.map_err(|error| CommitError::Failed(failed("the topics", error)))?;
    let mut ownership = lock(&context.ownership);
    for Commit { owned, .. } in commits {
        if let Some(topic) = topics.get(&*owned.partition.topic) {
            ownership.set_log(owned, topic.id);
        }
    }
    Ok(())
}

fn commit_list(commits: &[Commit]) -> Result<TopicPartitionList, Error> {
    let mut list = TopicPartitionList::with_capacity(commits.len());
    for Commit { owned, committed } in commits {
        let metadata = std::str::from_utf8(&committed.metadata)
            .map_err(|error| failed(&format!("{}: the metadata", owned.partition), error))?;
        let offset = i64::try_from(committed.offset).unwrap_or(i64::MAX);
        add(&mut list, &owned.partition, Offset::Offset(offset), metadata);
    }
    Ok(list)
}

/// Sends a commit; again if the group has a new generation meanwhile. What is owned stays so: a hand-over waits for this.
fn send_commit(
    client: &Client,
    list: &TopicPartitionList,
) -> Result<Vec<Option<RDKafkaErrorCode>>, Error> {
    let mut tries = 0..TRIES;
    loop {
        // Kafka takes the commits of a member that is in no generation for an administrator's.
        if sys::generation(client).is_none() {
            return Err(Error::new("the member is not in its group"));
        }
        let result = sys::commit(client, list);
        let code = match &result {
            Ok(codes) => codes.iter().flatten().next(),
            Err(code) => Some(code),
        };
        let is_passing = matches!(
            code,
            Some(
                RDKafkaErrorCode::IllegalGeneration
                    | RDKafkaErrorCode::RebalanceInProgress
                    | RDKafkaErrorCode::StaleMemberEpoch
            )
        );
        if !is_passing || tries.next().is_none() {
            return result.map_err(|code| failed("the broker", code));
        }
        std::thread::sleep(BETWEEN_TRIES);
    }
}
