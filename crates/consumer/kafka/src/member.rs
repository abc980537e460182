//! [`Member`]: records and changes of the group, as events.

use crate::calls::{Calls, KafkaControl, unassign};
use crate::context::{Change, Client, add, list, lock, log_error};
use crate::lookups::{look_at_topics, look_up, prepare};
use crate::reader::Reader;
use crate::sys::{self, ClientQueue, Failure, Message, Polled};
use colored::time::{Duration, Instant, sleep, timeout};
use colored_consumer::{Error, Event, Owned, Room, Source, TopicPartition};
use rdkafka::consumer::Consumer;
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Offset, TopicPartitionList};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// How many records are fetched before some are returned. A guess: it takes some 200 µs.
const CHUNK: usize = 256;

/// The client's call that records have come can be missed: librdkafka calls once, when its queue is no longer empty.
const TICK: Duration = Duration::from_millis(500);

/// How often a member looks whether its topics are still the same: the client reads a topic that was made again from the old
/// place on. It costs a broker an answer from its memory.
const LOOK: Duration = Duration::from_secs(3);

/// How often a member that is about to join looks whether it has.
const JOIN_TICK: Duration = Duration::from_millis(20);

type Step = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A member of a group of Kafka. A member that is dropped leaves its group in the background.
pub struct Member {
    calls: Calls,
    client: Option<Arc<Client>>,
    readers: Vec<Reader>,
    /// The reader that is first in the next search for records.
    first: usize,
    events: VecDeque<Event>,
    /// Where partitions are to be read from.
    begins: Vec<(Owned, u64)>,
    /// A call of the client that is under way. Nothing is fetched before its end.
    step: Option<Step>,
    /// What ended the client.
    fatal: Option<String>,
    /// When the member looks at its topics again. None while it does.
    next_look: Option<Instant>,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("readers", &self.readers).finish_non_exhaustive()
    }
}

impl Member {
    pub(crate) fn new(calls: Calls) -> Member {
        let client = calls.client();
        Member {
            calls,
            client,
            readers: Vec::new(),
            first: 0,
            events: VecDeque::new(),
            begins: Vec::new(),
            step: None,
            fatal: None,
            next_look: Some(Instant::now() + LOOK),
        }
    }

    /// Waits until the group has the member, for this time at most. Returns whether it may be polled: not if the group holds
    /// the place of another member of its name, which ends this client. Cancel safe.
    pub(crate) async fn enter(&mut self, time: Duration) -> Result<bool, Error> {
        let (client, end) = (self.client(), Instant::now() + time);
        while sys::generation(&client).is_none_or(|generation| generation == 0) {
            match client.client().fatal_error() {
                Some((RDKafkaErrorCode::UnreleasedInstanceId, _)) => return Ok(false),
                // The first poll says it.
                Some(_) => return Ok(true),
                None if Instant::now() >= end => return Ok(true),
                None => {}
            }
            // Other errors pass, or come again.
            let _ = self.fetch(&client);
            sleep(JOIN_TICK).await;
        }
        Ok(true)
    }

    fn client(&self) -> Arc<Client> {
        Arc::clone(self.client.as_ref().expect("it is taken at the end"))
    }

    fn apply(&mut self, change: Change) {
        let context = Arc::clone(&self.calls.context);
        match change {
            Change::Assigned(partitions, generation) => {
                let mut ownership = lock(&context.ownership);
                let own = |partition: TopicPartition| {
                    ownership.assign(partition.clone(), generation);
                    Owned { partition, generation }
                };
                let owned = partitions.into_iter().map(own).collect();
                drop(ownership);
                let _detached = colored::spawn_unique(prepare(self.calls.clone(), owned));
            }
            Change::Prepared(mut prepared) => {
                let mut ownership = lock(&context.ownership);
                prepared.retain(|(owned, assignment)| {
                    ownership.set_log(owned, assignment.log.identity);
                    ownership.tell(owned)
                });
                drop(ownership);
                let readers =
                    prepared.iter().map(|(owned, of)| Reader::new(owned.clone(), of.log.identity));
                self.readers.extend(readers);
                if !prepared.is_empty() {
                    let assignments = prepared.into_iter().map(|(_, assignment)| assignment);
                    self.events.push_back(Event::Assigned(assignments.collect()));
                }
            }
            Change::Revoked(partitions, is_lost) => self.revoke(partitions, is_lost),
            Change::Extents(extents) => {
                for (owned, log) in extents {
                    let mut waiting = self.readers.iter_mut().filter(|of| !of.is_begun());
                    if let Some(reader) = waiting.find(|reader| reader.owned == owned) {
                        lock(&context.ownership).set_log(&owned, log.identity);
                        reader.log = log.identity;
                        reader.out_of_range = Some(log);
                    }
                }
            }
            Change::Topics(topics) => {
                self.next_look = Some(Instant::now() + LOOK);
                self.compare(&topics.unwrap_or_default());
            }
        }
    }

    /// Finds the partitions whose topics were made again.
    fn compare(&mut self, topics: &BTreeMap<String, sys::Described>) {
        let mut other = Vec::new();
        for reader in &mut self.readers {
            let log = topics.get(&*reader.owned.partition.topic).and_then(|topic| topic.id);
            let is_other = reader.log.zip(log).is_some_and(|(before, now)| before != now);
            if is_other && reader.is_begun() {
                lock(&self.calls.context.ownership).set_log(&reader.owned, log);
                reader.stop(true);
                other.push(reader.owned.clone());
            }
        }
        if !other.is_empty() {
            let _detached = colored::spawn_unique(look_up(self.calls.clone(), other));
        }
    }

    /// Begins to look at the topics, if it is time.
    fn look(&mut self) {
        if self.next_look.is_some_and(|at| at <= Instant::now()) && !self.readers.is_empty() {
            self.next_look = None;
            let topics = self.readers.iter().map(|of| Arc::clone(&of.owned.partition.topic));
            let _detached =
                colored::spawn_unique(look_at_topics(self.calls.clone(), topics.collect()));
        }
    }

    fn revoke(&mut self, partitions: Vec<TopicPartition>, is_lost: bool) {
        let gone = lock(&self.calls.context.ownership).revoke(partitions, is_lost);
        self.readers.retain(|reader| !gone.owned.contains(&reader.owned));
        if !gone.owned.is_empty() {
            let event = if is_lost { Event::Lost } else { Event::Revoked };
            self.events.push_back(event(gone.owned));
        }
        if gone.is_complete {
            let calls = self.calls.clone();
            let _detached = colored::spawn_unique(async move { calls.finish().await });
        }
    }

    /// A session that ends during a hand-over is not told by the client: it waits for the end of the hand-over.
    fn check_hand_over(&mut self, client: &Client) {
        if !client.assignment_lost() {
            return;
        }
        let lost = lock(&self.calls.context.ownership).lose_revoked();
        if !lost.is_empty() {
            self.events.push_back(Event::Lost(lost));
            let calls = self.calls.clone();
            let _detached = colored::spawn_unique(async move { calls.finish().await });
        }
    }

    /// What some partition has to tell, another one first each time: records, or where its log ends, or that it does not have
    /// the next record.
    fn take_from_readers(&mut self, client: &Client, room: Room) -> Option<Event> {
        let count = self.readers.len();
        for at in 0..count {
            let reader = &mut self.readers[(self.first + at) % count];
            let records = reader.take(room);
            if let Some(last) = records.last() {
                let owned = reader.owned.clone();
                let known = sys::known_end(client, &owned.partition);
                let (next, end) = reader.tell(last.offset + 1, known);
                self.first = (self.first + at + 1) % count;
                return Some(Event::Records { owned, records, next, end });
            }
            if let Some(end) = reader.take_end() {
                let owned = reader.owned.clone();
                return Some(Event::Records { owned, records, next: end, end });
            }
            if let Some(log) = reader.take_out_of_range() {
                return Some(Event::OutOfRange { owned: reader.owned.clone(), log });
            }
        }
        None
    }

    /// What the client has to be told: where partitions begin, and which it is to fetch.
    fn next_step(&mut self, client: &Arc<Client>, room: Room) -> Option<Step> {
        let client = Arc::clone(client);
        if !self.begins.is_empty() {
            let (begins, calls) = (std::mem::take(&mut self.begins), self.calls.clone());
            for (owned, _) in &begins {
                let reader = self.readers.iter_mut().find(|reader| reader.owned == *owned);
                reader.into_iter().for_each(|reader| reader.is_client_paused = false);
            }
            return Some(blocking(move || begin(&client, &calls, begins)));
        }
        let is_full = room.records == 0 && self.readers.iter().any(Reader::has_records);
        let (mut paused, mut resumed) = (Vec::new(), Vec::new());
        for reader in &mut self.readers {
            let wants = reader.wants_pause(is_full);
            if wants && !reader.is_client_paused {
                paused.push(reader.owned.partition.clone());
                reader.is_client_paused = true;
            } else if !wants && reader.is_client_paused && !reader.is_paused {
                resumed.push(reader.owned.partition.clone());
                reader.is_client_paused = false;
            }
        }
        if paused.is_empty() && resumed.is_empty() {
            return None;
        }
        Some(blocking(move || {
            // A partition that has just gone.
            let _ = client.pause(&list(&paused));
            let _ = client.resume(&list(&resumed));
        }))
    }

    /// Takes what the client has fetched; returns whether there was something.
    fn fetch(&mut self, client: &Client) -> Result<bool, Error> {
        let queue = ClientQueue::of(client);
        for count in 0..CHUNK {
            let Some(polled) = queue.poll() else { return Ok(count > 0) };
            match polled {
                Polled::Message(message) => self.keep(&message),
                Polled::Failed(failure) => self.judge(client, &failure)?,
                Polled::Rebalance(what, partitions) => {
                    self.calls.context.rebalance(client, what, partitions);
                }
                Polled::Log(line) => self.calls.context.log_line(&line),
                Polled::Other => {}
            }
        }
        Ok(true)
    }

    fn keep(&mut self, message: &Message) {
        let mut readers = self.readers.iter_mut();
        if let Some(reader) = readers.find(|reader| message.is_of(&reader.owned.partition)) {
            self.calls.context.recover();
            reader.push(message.record(&reader.owned.partition));
        }
    }

    /// An error of the client: it tries most things again by itself.
    fn judge(&mut self, client: &Client, failure: &Failure) -> Result<(), Error> {
        let mut readers = self.readers.iter_mut().filter(|reader| reader.is_begun());
        let place = failure.place.as_ref();
        let reader = place.and_then(|(of, _)| readers.find(|reader| reader.owned.partition == *of));
        match (failure.code, reader) {
            (RDKafkaErrorCode::PartitionEOF, reader) => {
                let end = place.map_or(0, |(_, offset)| *offset);
                reader.into_iter().for_each(|reader| reader.reach_end(end));
                Ok(())
            }
            (RDKafkaErrorCode::AutoOffsetReset | RDKafkaErrorCode::OffsetOutOfRange, reader) => {
                // The client reads the partition no further, whatever its log has by now.
                if let Some(reader) = reader {
                    reader.stop(false);
                    let owned = vec![reader.owned.clone()];
                    let _detached = colored::spawn_unique(look_up(self.calls.clone(), owned));
                }
                Ok(())
            }
            (code, _) if is_passing(code) => {
                self.calls.context.report(failure);
                Ok(())
            }
            (code, Some(reader)) if !failure.is_fatal => {
                reader.stop(true);
                let error = Error::new(format!("{code}: {}", failure.text));
                self.events.push_back(Event::Failed { owned: reader.owned.clone(), error });
                Ok(())
            }
            (code, _) => {
                let text = match client.client().fatal_error() {
                    Some((code, reason)) => format!("{code}: {reason}"),
                    None => format!("{code}: {}", failure.text),
                };
                self.fatal = failure.is_fatal.then(|| text.clone());
                Err(Error::new(text))
            }
        }
    }
}

/// Whether the client itself tries again until the broker is back.
fn is_passing(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as Code;
    matches!(
        code,
        Code::AllBrokersDown
            | Code::BrokerTransportFailure
            | Code::Resolve
            | Code::OperationTimedOut
            | Code::RequestTimedOut
            | Code::NetworkException
            | Code::CoordinatorNotAvailable
            | Code::CoordinatorLoadInProgress
            | Code::NotCoordinator
            | Code::LeaderNotAvailable
            | Code::NotLeaderForPartition
            | Code::BrokerNotAvailable
    )
}

fn blocking(call: impl FnOnce() + Send + 'static) -> Step {
    let called = colored::spawn_blocking(call);
    // It panics on no road, and a shutdown ends all.
    Box::pin(async move { drop(called.await) })
}

/// Reads partitions from these offsets on.
fn begin(client: &Client, calls: &Calls, begins: Vec<(Owned, u64)>) {
    // Held until the client has them, so that no hand-over ends meanwhile.
    let mut ownership = lock(&calls.context.ownership);
    let (mut new, mut resumed) = (TopicPartitionList::new(), Vec::new());
    for (owned, offset) in begins {
        let Some(is_begun) = ownership.begin(&owned) else { continue };
        let offset = Offset::Offset(i64::try_from(offset).unwrap_or(i64::MAX));
        let of = &owned.partition;
        let number = i32::try_from(of.partition).unwrap_or(i32::MAX);
        if is_begun {
            if client.seek(&of.topic, number, offset, TICK).is_ok() {
                resumed.push(of.clone());
                continue;
            }
            // The client has stopped, because the log has not what comes next.
            unassign(client, std::slice::from_ref(of));
        }
        add(&mut new, of, offset, "");
    }
    log_error("the begin of a partition", client.resume(&list(&resumed)));
    if new.count() > 0 {
        log_error("the begin of a partition", client.incremental_assign(&new));
    }
}

impl Source for Member {
    type Control = KafkaControl;

    fn control(&self) -> KafkaControl {
        KafkaControl { calls: self.calls.clone() }
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        let client = self.client();
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            if let Some(text) = &self.fatal {
                return Err(Error::new(text.clone()));
            }
            if let Some(step) = &mut self.step {
                step.await;
                self.step = None;
            }
            if let Some(change) = self.calls.context.pop() {
                self.apply(change);
                continue;
            }
            self.look();
            if let Some(event) = self.take_from_readers(&client, room) {
                return Ok(event);
            }
            self.step = self.next_step(&client, room);
            if self.step.is_some() || self.fetch(&client)? || self.calls.context.has_changes() {
                continue;
            }
            self.check_hand_over(&client);
            // In time or not, the member looks.
            let _ = timeout(TICK, self.calls.context.wake.notified()).await;
        }
    }

    fn begin(&mut self, owned: &Owned, offset: u64) {
        if let Some(reader) = self.readers.iter_mut().find(|reader| reader.owned == *owned) {
            reader.begin(offset);
            self.begins.push((owned.clone(), offset));
            self.calls.context.wake.notify_one();
        }
    }

    fn pause(&mut self, partition: &TopicPartition) {
        for reader in self.readers.iter_mut().filter(|of| of.owned.partition == *partition) {
            reader.is_paused = true;
        }
    }

    fn resume(&mut self, partition: &TopicPartition) {
        for reader in self.readers.iter_mut().filter(|of| of.owned.partition == *partition) {
            reader.is_paused = false;
        }
        self.calls.context.wake.notify_one();
    }

    async fn close(mut self) -> Result<(), Error> {
        self.client = None;
        if let Some(step) = self.step.take() {
            step.await;
        }
        self.calls.close().await
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let (calls, client) = (self.calls.clone(), self.client.take());
        if client.is_none() {
            return; // It was closed.
        }
        // The client waits for its threads when it ends.
        let left = std::thread::Builder::new().spawn(move || {
            calls.leave();
            drop(client);
        });
        if let Err(error) = left {
            eprintln!("colored-consumer-kafka: the member leaves late: {error}");
        }
    }
}
