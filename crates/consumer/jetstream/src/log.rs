//! What a stream has of a partition, and whether it is the stream that it was.
//!
//! The offsets of a partition are sequence numbers of its stream. A stream that was made again, or brought back from an older
//! copy, gives the numbers a second time. The time of its creation does not tell a copy from the original, and its last
//! sequence number does only until it has grown again. So the owners of a partition remember a message, the witness: the
//! same number with another time is in another log.

use crate::engine::failed;
use crate::lease::{Known, Witness};
use async_nats::datetime::from_nanos;
use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::stream::{LastRawMessageErrorKind, RawMessageError, Stream};
use colored_consumer::{Error, Extent, TopicPartition};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The subject of all records of a partition.
pub(crate) fn subject(of: &TopicPartition) -> String {
    format!("{}.p.{}.*", of.topic, of.partition)
}

/// Nanoseconds since 1970, by the clock of this machine.
pub(crate) fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// A stream, as it is now.
pub(crate) struct Log {
    stream: Stream,
    start: u64,
    /// The last message that it has had. It may be deleted.
    pub(crate) last: Witness,
}

impl Log {
    pub(crate) async fn of(context: &Context, topic: &str) -> Result<Log, Error> {
        let stream = context.get_stream(topic).await;
        let stream = stream.map_err(|error| failed(&format!("topic {topic:?}"), error))?;
        let state = &stream.cached_info().state;
        let time = state.last_timestamp.unix_timestamp_nanos();
        let last = Witness { sequence: state.last_sequence, time };
        Ok(Log { start: state.first_sequence.max(1), last, stream })
    }

    /// The offset after the last record of a partition, if there is one.
    pub(crate) async fn end(&self, of: &TopicPartition) -> Result<Option<u64>, Error> {
        let last = self.stream.get_last_raw_message_by_subject(&subject(of)).await;
        Ok(if_found(last)?.map(|last| last.sequence + 1))
    }

    /// The offset of the first record of a partition with this time or a later one; `end` if there is none. The server gives the
    /// messages of a stream their times, so these rise.
    pub(crate) async fn find(
        &self,
        of: &TopicPartition,
        end: u64,
        timestamp: i64,
    ) -> Result<u64, Error> {
        let (mut low, mut high, mut found) = (self.start, end, end);
        // What is below `low` is older; and `found` is the first record from `high` on.
        while low < high {
            let middle = low + (high - low) / 2;
            let next = self.stream.get_first_raw_message_by_subject(subject(of), middle).await;
            match if_found(next)?.filter(|message| message.sequence < high) {
                Some(message) if millis(message.time) < timestamp.into() => {
                    low = message.sequence + 1;
                }
                Some(message) => (high, found) = (middle, message.sequence),
                // The numbers up to `high` are those of other partitions.
                None => high = middle,
            }
        }
        Ok(found)
    }

    /// Whether a partition has a record with this offset or a higher one.
    pub(crate) async fn has_more(&self, of: &TopicPartition, offset: u64) -> Result<bool, Error> {
        let next = self.stream.get_first_raw_message_by_subject(subject(of), offset).await;
        Ok(if_found(next)?.is_some())
    }

    /// What it has of a partition, if no record counts that was deleted.
    pub(crate) fn extent(&self, end: Option<u64>, identity: Option<u128>) -> Extent {
        let end = end.unwrap_or(self.start);
        let limit = end.max(self.last.sequence + 1);
        Extent { doubt: self.start, floor: self.start, start: self.start, end, limit, identity }
    }

    /// Whether this is the log that had the witness.
    async fn has(&self, Witness { sequence, time }: Witness) -> Result<bool, Error> {
        if self.last.sequence < sequence {
            return Ok(false);
        }
        if let Some(message) = if_found(self.stream.get_raw_message(sequence).await)? {
            return Ok(message.time.unix_timestamp_nanos() == time);
        }
        if self.start > sequence {
            return Ok(true);
        }
        // It was deleted. All newer messages are behind its place.
        let start_time = from_nanos(time + 1).map_err(|error| failed("a time", error))?;
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartTime { start_time },
            ack_policy: AckPolicy::None,
            inactive_threshold: Duration::from_secs(1),
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let consumer = self.stream.create_consumer(config).await;
        let consumer = consumer.map_err(|error| failed("a place by time", error))?;
        // It begins behind this number.
        Ok(consumer.cached_info().delivered.stream_sequence >= sequence)
    }
}

/// Milliseconds since 1970, as a record has them.
fn millis(time: async_nats::datetime::DateTime) -> i128 {
    time.unix_timestamp_nanos().div_euclid(1_000_000)
}

fn if_found<T>(found: Result<T, RawMessageError>) -> Result<Option<T>, Error> {
    match found {
        Ok(message) => Ok(Some(message)),
        Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok(None),
        Err(error) => Err(failed("a message of the stream", error)),
    }
}

/// What the log of a partition has for a group with this place, and what is to be known of it from now on. The group has been
/// in the topic, in some partition, up to the offset `seen`.
pub(crate) async fn judge(
    log: &Log,
    of: &TopicPartition,
    partitions: u32,
    known: &Known,
    place: Option<u64>,
    seen: u64,
) -> Result<(Extent, Known), Error> {
    let end = log.end(of).await?;
    let is_same = match known.witness {
        Some(witness) => log.has(witness).await?,
        None => known.identity.is_some(),
    };
    let identity = if is_same { known.identity } else { Some(now()) };
    let mut extent = log.extent(end, identity);
    if let Some(place) = place.filter(|_| is_same)
        && place < log.start
        && known.end <= place
        && partitions > 1
    {
        // No record was known behind the place. The numbers up to the start are those of other partitions, as long as some
        // member was there to see them; of the numbers behind that, nobody can tell.
        extent.doubt = place;
        if log.start <= seen {
            extent.floor = place;
        }
    }
    let is_above = |witness: &Witness| place.is_some_and(|place| place <= witness.sequence + 1);
    let witness = known.witness.filter(|witness| is_same && is_above(witness)).unwrap_or(log.last);
    let witness = (witness.sequence > 0).then_some(witness);
    // Until the group has a place in the log, nothing behind it is known.
    let end = if extent.doubt < log.start { known.end } else { end.unwrap_or(0) };
    Ok((extent, Known { identity, witness, end }))
}
