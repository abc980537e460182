//! What the client calls when the group changes. The calls come on the thread that polls the client.
//!
//! A change only goes into a queue here. The client waits for the answer to a revocation: `calls` gives it when the
//! consumer has released the partitions.

use crate::ownership::Ownership;
use crate::sys;
use colored::sync::Notify;
use colored_consumer::{Assignment, Extent, Owned, TopicPartition};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{ClientContext, Offset, TopicPartitionList};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The client.
pub(crate) type Client = BaseConsumer<Context>;

/// What a member has to hear.
#[derive(Debug)]
pub(crate) enum Change {
    /// The group assigns partitions, in a generation.
    Assigned(Vec<TopicPartition>, u64),
    /// What was committed in new partitions, and what their logs have.
    Prepared(Vec<Assignment>),
    /// The group wants partitions back, or they are lost.
    Revoked(Vec<TopicPartition>, bool),
    /// What the logs of these partitions have.
    Ranges(Vec<(Owned, Extent)>),
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
    /// Whether the end of the client is not enough to leave the group.
    pub(crate) must_leave: bool,
}

/// What a thread that panicked has left is as good: each change is a single step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Context {
    pub(crate) fn new(must_leave: bool) -> Context {
        Context {
            changes: Mutex::default(),
            ownership: Mutex::default(),
            wake: Arc::new(Notify::new()),
            is_closing: AtomicBool::new(false),
            is_out: AtomicBool::new(false),
            must_leave,
        }
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
        // Ordering: the thread that closes the client calls `rebalance` itself.
        self.is_closing.store(true, Ordering::Relaxed);
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
        let fetched = ownership.finish().unwrap_or_default();
        log_error("the end of a hand-over", client.incremental_unassign(&list(&fetched)));
    }
}

impl ClientContext for Context {
    /// The client goes on by itself.
    fn error(&self, error: KafkaError, reason: &str) {
        // Ordering: a hint for people.
        if !self.is_out.swap(true, Ordering::Relaxed) {
            eprintln!("colored-consumer-kafka: {error}: {reason}");
        }
    }
}

impl ConsumerContext for Context {
    fn rebalance(&self, client: &Client, what: RDKafkaRespErr, list: &mut TopicPartitionList) {
        let partitions = partitions(list);
        // Ordering: see `close`.
        let is_closing = self.is_closing.load(Ordering::Relaxed);
        if what == RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            if !is_closing && !partitions.is_empty() {
                self.push(Change::Assigned(partitions, fencing_token(client)));
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
}

/// The generation of the group, and below it the time in tenths of a second.
fn fencing_token(client: &Client) -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let tenths = (time.as_millis() / 100) as u32;
    u64::from(sys::generation(client).unwrap_or(0)) << 32 | u64::from(tenths)
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
