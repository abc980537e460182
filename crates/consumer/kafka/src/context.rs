//! What the client calls when the group changes. The calls come on the thread that polls the client.
//!
//! A change only goes into a queue here. The client waits for the answer to a revocation: `calls` gives it when the
//! consumer has released the partitions.

use crate::ownership::Ownership;
use crate::sys;
use crate::token::fencing_token;
use colored::sync::Notify;
use colored_consumer::{Assignment, Extent, Owned, TopicPartition};
use rdkafka::config::RDKafkaLogLevel as Level;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{ClientContext, Offset, TopicPartitionList};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The client.
pub(crate) type Client = BaseConsumer<Context>;

/// What a member has to hear.
#[derive(Debug)]
pub(crate) enum Change {
    /// The group assigns partitions.
    Assigned(Vec<Owned>),
    /// What was committed in new partitions, and what their logs have.
    Prepared(Vec<(Owned, Assignment)>),
    /// The group wants partitions back, or they are lost.
    Revoked(Vec<TopicPartition>, bool),
    /// What the logs of these partitions have, whose next record is not there.
    Extents(Vec<(Owned, Extent)>),
    /// The topics that are there, if a broker has answered.
    Topics(Option<BTreeMap<String, sys::Described>>),
}

/// What the client and a member share.
pub(crate) struct Context {
    changes: Mutex<VecDeque<Change>>,
    pub(crate) ownership: Mutex<Ownership>,
    /// Wakes the task that polls.
    pub(crate) wake: Arc<Notify>,
    /// Nobody polls any more, so nobody would hear of a revocation.
    is_closing: AtomicBool,
    /// Whether the last outage was reported.
    is_out: AtomicBool,
    /// The topics that the member has read: their ids, and whether it has read another one of the name before.
    topics: Mutex<BTreeMap<String, (u128, bool)>>,
    /// Whether the end of the client is not enough to leave the group.
    pub(crate) must_leave: bool,
    /// Whether what a transaction has written is read before its end.
    pub(crate) reads_uncommitted: bool,
}

/// What a thread that panicked has left is as good: each change is a single step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Context {
    pub(crate) fn new(must_leave: bool, reads_uncommitted: bool) -> Context {
        Context {
            changes: Mutex::default(),
            ownership: Mutex::default(),
            wake: Arc::new(Notify::new()),
            is_closing: AtomicBool::new(false),
            is_out: AtomicBool::new(false),
            topics: Mutex::default(),
            must_leave,
            reads_uncommitted,
        }
    }

    /// The member is to read a topic. Returns whether it has read another one of this name.
    pub(crate) fn note_topic(&self, name: &str, id: Option<u128>) -> bool {
        let Some(id) = id else { return false };
        let mut topics = lock(&self.topics);
        let noted = topics.entry(name.to_owned()).or_insert((id, false));
        if noted.0 != id {
            *noted = (id, true);
        }
        noted.1
    }

    pub(crate) fn push(&self, change: Change) {
        lock(&self.changes).push_back(change);
        self.wake.notify_one();
    }

    pub(crate) fn pop(&self) -> Option<Change> {
        lock(&self.changes).pop_front()
    }

    pub(crate) fn has_changes(&self) -> bool {
        !lock(&self.changes).is_empty()
    }

    pub(crate) fn close(&self) {
        // Ordering: who calls `rebalance` behind it is this thread, a thread that it starts, or who drops the last reference to the
        // client, which acquires what those before have done.
        self.is_closing.store(true, Ordering::Relaxed);
    }

    /// An error after which the client goes on by itself: the first of an outage is told.
    pub(crate) fn report(&self, failure: &sys::Failure) {
        // Ordering: a hint for people.
        if !self.is_out.swap(true, Ordering::Relaxed) {
            eprintln!("colored-consumer-kafka: {}: {}", failure.code, failure.text);
        }
    }

    /// Hands a line of the client's log to the crate `log`.
    pub(crate) fn log_line(&self, line: &sys::Line) {
        let level = match line.level {
            0 => Level::Emerg,
            1 => Level::Alert,
            2 => Level::Critical,
            3 => Level::Error,
            4 => Level::Warning,
            5 => Level::Notice,
            6 => Level::Info,
            _ => Level::Debug,
        };
        self.log(level, &line.facility, &line.text);
    }

    /// Hands the client's statistics to the crate `log`, as JSON.
    pub(crate) fn statistics(&self, json: &str) {
        self.log(Level::Info, "STATS", json);
    }

    /// The group gives partitions, or wants them back.
    pub(crate) fn rebalance(
        &self,
        client: &Client,
        what: RDKafkaRespErr,
        partitions: Vec<TopicPartition>,
    ) {
        // Ordering: see `close`.
        let is_closing = self.is_closing.load(Ordering::Relaxed);
        if what == RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            if !is_closing && !partitions.is_empty() {
                let generation = fencing_token(client);
                let own = |partition| Owned { partition, generation };
                self.push(Change::Assigned(partitions.into_iter().map(own).collect()));
            }
            // The client fetches a partition from `begin` on.
            let nothing = TopicPartitionList::new();
            log_error("an assignment", client.incremental_assign(&nothing));
        } else if is_closing {
            self.give_up(client, partitions);
        } else {
            self.push(Change::Revoked(partitions, client.assignment_lost()));
        }
    }

    /// Records come: an outage is over.
    pub(crate) fn recover(&self) {
        // Ordering: a hint for people.
        if self.is_out.load(Ordering::Relaxed) {
            // Ordering: a hint for people.
            self.is_out.store(false, Ordering::Relaxed);
        }
    }

    /// The member leaves: everything that it has goes to others at once.
    fn give_up(&self, client: &Client, partitions: Vec<TopicPartition>) {
        let mut ownership = lock(&self.ownership);
        ownership.revoke(partitions, true);
        ownership.lose_revoked();
        let fetched = ownership.finish().map(|finished| finished.fetched).unwrap_or_default();
        log_error("the end of a hand-over", client.incremental_unassign(&list(&fetched)));
    }
}

impl ClientContext for Context {}

/// The last poll is that of the client's own end.
impl ConsumerContext for Context {
    fn rebalance(&self, client: &Client, what: RDKafkaRespErr, list: &mut TopicPartitionList) {
        Context::rebalance(self, client, what, partitions(list));
    }
}

pub(crate) fn log_error(what: &str, result: Result<(), KafkaError>) {
    if let Err(error) = result {
        eprintln!("colored-consumer-kafka: {what} failed: {error}");
    }
}

fn partitions(list: &TopicPartitionList) -> Vec<TopicPartition> {
    let elements = list.elements();
    let partition = |number: i32| u32::try_from(number).ok();
    let all = elements.iter().filter_map(|element| {
        Some(TopicPartition {
            topic: element.topic().into(),
            partition: partition(element.partition())?,
        })
    });
    all.collect()
}

/// The list of the client for these partitions.
pub(crate) fn list(partitions: &[TopicPartition]) -> TopicPartitionList {
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for of in partitions {
        add(&mut list, of, Offset::Invalid, "");
    }
    list
}

/// Adds a partition to a list of the client.
pub(crate) fn add(
    list: &mut TopicPartitionList,
    of: &TopicPartition,
    offset: Offset,
    metadata: &str,
) {
    // They come from the client, which has them as such numbers.
    let number = i32::try_from(of.partition).unwrap_or(i32::MAX);
    let mut element = list.add_partition(&of.topic, number);
    // Every offset of a record is a number of the client.
    let _ = element.set_offset(offset);
    if !metadata.is_empty() {
        element.set_metadata(metadata);
    }
}
