//! What the client is told of partitions, and what it has fetched of them.

use super::{Member, Step, TICK};
use crate::calls::unassign;
use crate::context::{Client, add, list, lock, log_error};
use crate::lookups::look_up;
use crate::ownership::Ownership;
use crate::sys::{ClientQueue, Failure, Message, PartitionQueue, Polled};
use colored_consumer::{Error, Event, Owned};
use rdkafka::consumer::Consumer;
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Offset, TopicPartitionList};
use std::sync::Arc;

/// How many records are read ahead before some are returned. A guess: it takes less than a millisecond.
const CHUNK: usize = 1_024;

impl Member {
    /// What the client has to be told: where partitions begin, and which rest.
    pub(super) fn next_step(&mut self, client: &Arc<Client>) -> Option<Step> {
        let (begins, after) = (std::mem::take(&mut self.begins), self.rest_after);
        let rests = self.readers.iter_mut().filter_map(|reader| {
            reader.take_rest(after).map(|rests| (reader.owned.clone(), rests))
        });
        let rests: Vec<_> = rests.collect();
        if begins.is_empty() && rests.is_empty() {
            return None;
        }
        for (owned, _) in &begins {
            let mut readers = self.readers.iter_mut();
            if let Some(reader) = readers.find(|of| of.owned == *owned && of.queue.is_none()) {
                reader.queue = PartitionQueue::split(client, &owned.partition);
            }
        }
        let (client, calls) = (Arc::clone(client), self.calls.clone());
        Some(blocking(move || {
            // Held until the client has heard all, so that no hand-over ends meanwhile.
            let mut ownership = lock(&calls.context.ownership);
            begin(&client, &mut ownership, begins);
            rest(&client, &mut ownership, rests);
        }))
    }

    /// Takes what the client has fetched, as far as it is to be read ahead; returns whether there was something.
    pub(super) fn fetch(&mut self, client: &Client) -> Result<bool, Error> {
        let (queue, mut left) = (ClientQueue::of(client), CHUNK);
        while left > 0
            && let Some(polled) = queue.poll()
        {
            left -= 1;
            self.handle(client, polled)?;
        }
        // A reader is filled until its queue is empty: then the client fetches more while others are filled.
        for _ in 0..self.readers.len() {
            self.filled %= self.readers.len();
            self.fill(client, &mut left)?;
            if left == 0 {
                break;
            }
            self.filled += 1;
        }
        Ok(left < CHUNK)
    }

    /// Takes at most so many records that the client has fetched of a partition.
    fn fill(&mut self, client: &Client, left: &mut usize) -> Result<(), Error> {
        let at = self.filled;
        let Some(queue) = self.readers[at].queue.take_if(|queue| queue.has_come()) else {
            return Ok(());
        };
        let mut result = Ok(());
        while result.is_ok() && *left > 0 && self.readers[at].may_take() {
            let Some(polled) = queue.poll() else { break };
            *left -= 1;
            match polled {
                Polled::Message(message) => {
                    let reader = &mut self.readers[at];
                    reader.push(message.record(&reader.owned.partition));
                    self.calls.context.recover();
                }
                polled => result = self.handle(client, polled),
            }
        }
        self.readers[at].queue = Some(queue);
        result
    }

    fn handle(&mut self, client: &Client, polled: Polled) -> Result<(), Error> {
        let context = &self.calls.context;
        match polled {
            // Of a partition that has gone, or has no queue of its own.
            Polled::Message(message) => self.keep(&message),
            Polled::Failed(failure) => self.judge(client, &failure)?,
            Polled::Rebalance(what, partitions) => context.rebalance(client, what, partitions),
            Polled::Log(line) => context.log_line(&line),
            Polled::Statistics(json) => context.statistics(&json),
            Polled::Other => {}
        }
        Ok(())
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
            // A topic was deleted, and its partitions are about to be lost: none of the others is to wait for that.
            (RDKafkaErrorCode::UnknownTopicOrPartition, None) if !failure.is_fatal => {
                self.calls.context.report(failure);
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
fn begin(client: &Client, ownership: &mut Ownership, begins: Vec<(Owned, u64)>) {
    let mut new = TopicPartitionList::new();
    for (owned, offset) in begins {
        let Some(is_begun) = ownership.begin(&owned) else { continue };
        let offset = Offset::Offset(i64::try_from(offset).unwrap_or(i64::MAX));
        let of = &owned.partition;
        let number = i32::try_from(of.partition).unwrap_or(i32::MAX);
        if is_begun && client.seek(&of.topic, number, offset, TICK).is_ok() {
            continue;
        }
        if is_begun {
            // The client has stopped, because the log has not what comes next.
            unassign(client, std::slice::from_ref(of));
        }
        add(&mut new, of, offset, "");
    }
    if new.count() > 0 {
        log_error("the begin of a partition", client.incremental_assign(&new));
    }
}

/// Pauses partitions (`true`), and resumes others. The client throws away what it has fetched of both, and fetches it again.
fn rest(client: &Client, ownership: &mut Ownership, rests: Vec<(Owned, bool)>) {
    for (owned, rests) in rests {
        // The client would remember the pause of a partition that has gone.
        if ownership.is_owned(&owned) {
            let list = list(std::slice::from_ref(&owned.partition));
            let told = if rests { client.pause(&list) } else { client.resume(&list) };
            log_error("a pause, or its end,", told);
        }
    }
}
