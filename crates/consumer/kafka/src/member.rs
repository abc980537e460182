//! [`Member`]: records and changes of the group, as events.

mod changes;
mod fetch;

use crate::calls::{Calls, KafkaControl};
use crate::context::Client;
use crate::reader::Reader;
use crate::sys;
use colored::time::{Duration, Instant, sleep, timeout};
use colored_consumer::{Error, Event, Owned, Room, Source, TopicPartition};
use rdkafka::consumer::Consumer;
use rdkafka::types::RDKafkaErrorCode;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

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
    /// The reader that is filled next.
    filled: usize,
    events: VecDeque<Event>,
    /// Where partitions are to be read from.
    begins: Vec<(Owned, u64)>,
    /// A call of the client that is under way. Nothing is fetched before its end.
    step: Option<Step>,
    /// A partition of which the consumer wants nothing for so long is not fetched.
    rest_after: Duration,
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
    pub(crate) fn new(calls: Calls, rest_after: Duration) -> Member {
        let client = calls.client();
        Member {
            calls,
            client,
            readers: Vec::new(),
            first: 0,
            filled: 0,
            events: VecDeque::new(),
            begins: Vec::new(),
            step: None,
            rest_after,
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
            self.step = self.next_step(&client);
            if self.step.is_some() {
                continue;
            }
            let has_come = self.fetch(&client)?;
            if let Some(event) = self.take_from_readers(&client, room) {
                return Ok(event);
            }
            if has_come || self.calls.context.has_changes() {
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
            reader.paused_since.get_or_insert_with(Instant::now);
        }
    }

    fn resume(&mut self, partition: &TopicPartition) {
        for reader in self.readers.iter_mut().filter(|of| of.owned.partition == *partition) {
            reader.paused_since = None;
        }
        self.calls.context.wake.notify_one();
    }

    async fn close(mut self) -> Result<(), Error> {
        self.client = None;
        self.readers.clear();
        if let Some(step) = self.step.take() {
            step.await;
        }
        self.calls.close().await
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // The calls have the client still, unless they have left: also if a close was dropped before its end. The queues of the
        // partitions end before it.
        self.readers.clear();
        self.client = None;
        self.calls.leave_aside();
    }
}
