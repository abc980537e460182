//! [`Member`]: records and changes of the group, as events.

use crate::calls::{Calls, KafkaControl, unassign};
use crate::context::{Change, Client, add, list, lock, log_error};
use crate::reader::Reader;
use crate::sys;
use bytes::Bytes;
use colored::time::{Duration, sleep, timeout};
use colored_consumer::{Error, Event, Extent, Owned, Record, Room, Source, TopicPartition};
use rdkafka::consumer::Consumer;
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Headers, Message};
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Offset, TopicPartitionList};
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// How many records are fetched before some are returned. A guess: it takes some 200 µs.
const CHUNK: usize = 256;

/// The client's call that records have come can be missed: librdkafka calls once, when its queue is no longer empty.
const TICK: Duration = Duration::from_millis(500);

/// How long after a failed look-up the next one begins.
const PAUSE: Duration = Duration::from_millis(200);

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
        }
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
            Change::Prepared(mut assignments) => {
                let mut ownership = lock(&context.ownership);
                assignments.retain(|assignment| ownership.tell(&assignment.owned));
                drop(ownership);
                let owned = assignments.iter().map(|assignment| assignment.owned.clone());
                self.readers.extend(owned.map(Reader::new));
                if !assignments.is_empty() {
                    self.events.push_back(Event::Assigned(assignments));
                }
            }
            Change::Revoked(partitions, is_lost) => self.revoke(partitions, is_lost),
            Change::Ranges(ranges) => ranges.into_iter().for_each(|range| self.check(range)),
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

    /// The log of a partition has these records.
    fn check(&mut self, (owned, log): (Owned, Extent)) {
        let Some(reader) = self.readers.iter_mut().find(|reader| reader.owned == owned) else {
            return;
        };
        if reader.next.is_some_and(|next| !log.has_place(next)) {
            reader.next = None;
            self.events.push_back(Event::OutOfRange { owned, log });
        }
    }

    /// The records of some partition, another one first each time.
    fn take_records(&mut self, client: &Client, room: Room) -> Option<Event> {
        let count = self.readers.len();
        for at in 0..count {
            let reader = &mut self.readers[(self.first + at) % count];
            let records = reader.take(room);
            if let Some(last) = records.last() {
                let (owned, after) = (reader.owned.clone(), last.offset + 1);
                self.first = (self.first + at + 1) % count;
                let end =
                    sys::known_end(client, &owned.partition).map_or(after, |end| end.max(after));
                return Some(Event::Records { owned, records, next: after, end });
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
        let is_full =
            room.records == 0 && self.readers.iter().any(|reader| !reader.buffer.is_empty());
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
        for count in 0..CHUNK {
            // An event of the group is no record, and there may be one behind it.
            let Some(polled) = client.poll(Duration::ZERO).or_else(|| client.poll(Duration::ZERO))
            else {
                return Ok(count > 0);
            };
            match polled {
                Ok(message) => self.keep(&message),
                Err(error) => {
                    self.judge(client, &error)?;
                    return Ok(true);
                }
            }
        }
        Ok(true)
    }

    fn keep(&mut self, message: &BorrowedMessage<'_>) {
        let (topic, partition) = (message.topic(), message.partition());
        let is_its = |reader: &&mut Reader| {
            let of = &reader.owned.partition;
            i64::from(of.partition) == i64::from(partition) && &*of.topic == topic
        };
        if let Some(reader) = self.readers.iter_mut().find(is_its) {
            self.calls.context.recover();
            let record = record(&reader.owned.partition, message);
            reader.push(record);
        }
    }

    /// An error of the client: it tries most things again by itself.
    fn judge(&mut self, client: &Client, error: &KafkaError) -> Result<(), Error> {
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::AutoOffsetReset | RDKafkaErrorCode::OffsetOutOfRange) => {
                let begun = self.readers.iter().filter(|reader| reader.next.is_some());
                let owned = begun.map(|reader| reader.owned.clone()).collect();
                let _detached = colored::spawn_unique(look_up(self.calls.clone(), owned));
                Ok(())
            }
            Some(code) if is_passing(code) => Ok(()),
            code => {
                let is_fatal = matches!(error, KafkaError::MessageConsumptionFatal(_));
                let text = match client.client().fatal_error() {
                    Some((code, reason)) => format!("{code}: {reason}"),
                    None => code.map_or_else(|| error.to_string(), |code| code.to_string()),
                };
                self.fatal = is_fatal.then(|| text.clone());
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

/// Looks up what a member has to know of its new partitions, until that succeeds or they have gone.
async fn prepare(calls: Calls, owned: Vec<Owned>) {
    loop {
        let is_there = |owned: &Owned| lock(&calls.context.ownership).is_owned(owned);
        let left: Vec<_> = owned.iter().filter(|owned| is_there(owned)).cloned().collect();
        if left.is_empty() {
            return;
        }
        match calls.prepare(left).await {
            None => return,
            Some(Ok(assignments)) => return calls.context.push(Change::Prepared(assignments)),
            Some(Err(error)) => {
                eprintln!(
                    "colored-consumer-kafka: new partitions wait, and are tried again: {error}"
                );
                sleep(PAUSE).await;
            }
        }
    }
}

async fn look_up(calls: Calls, owned: Vec<Owned>) {
    if let Some(ranges) = calls.ranges(owned).await {
        calls.context.push(Change::Ranges(ranges));
    }
}

fn record(of: &TopicPartition, message: &BorrowedMessage<'_>) -> Record {
    let copy = |bytes: &[u8]| Bytes::copy_from_slice(bytes);
    let headers = message.headers().map_or_else(Vec::new, |headers| {
        let header = |header: rdkafka::message::Header<'_, &[u8]>| {
            (header.key.to_owned(), header.value.map(copy))
        };
        headers.iter().map(header).collect()
    });
    Record {
        topic: Arc::clone(&of.topic),
        partition: of.partition,
        offset: u64::try_from(message.offset()).unwrap_or(0),
        timestamp: message.timestamp().to_millis().unwrap_or(0),
        key: message.key().map(copy),
        value: message.payload().map(copy),
        headers,
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
            if let Some(event) = self.take_records(&client, room) {
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
