//! The task that reads a partition.
//!
//! It fetches what it is asked for, by a consumer of the server that begins at a sequence number and acknowledges nothing.
//! The server numbers what it sends to a consumer. A number that is missing was lost on the way: then another consumer
//! begins at the first record that is missing. A stream that is deleted, or replaced while the server is down, takes its
//! consumers with it: so a log is looked at when a consumer has begun, and is the same one as long as that is there.

use crate::agent::{Shared, Told};
use crate::key;
use crate::lease::Witness;
use crate::log::{Log, judge, subject};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::{Context, Message, consumer};
use bytes::Bytes;
use colored_consumer::{Error, Event, Extent, Owned, Record};
use futures_util::{FutureExt, StreamExt};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long the server waits for records before it answers that there are none.
const WAIT: Duration = Duration::from_secs(2);

/// How much later an answer counts as lost.
const LATE: Duration = Duration::from_millis(500);

/// After which time another answer counts as lost: a server that is killed answers nothing.
const ANSWER: Duration = Duration::from_secs(5);

/// How often the place of a partition without records follows the other partitions. Each time costs a commit.
const FOLLOW: Duration = Duration::from_secs(5);

/// How many records are told at once.
const CHUNK: usize = 128;

/// The header of a message that the server leaves where it has removed the last one of a subject.
const MARKER: &str = "Nats-Marker-Reason";

/// What a reader is asked for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) from: u64,
    pub(crate) count: usize,
    /// Which begin of the partition it belongs to.
    pub(crate) begin: u64,
}

/// Why a request was not answered.
enum Fault {
    /// What was lost is asked for again.
    Missing,
    Failed(Error),
    OutOfRange(Extent),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Failed(error)
    }
}

fn fault(error: impl ToString) -> Fault {
    Fault::Failed(Error::new(error.to_string()))
}

/// A consumer of the server, and what it sends next.
struct Place {
    consumer: consumer::Consumer<pull::Config>,
    sequence: u64,
    number: u64,
}

/// A reader of a partition.
pub(crate) struct Reader {
    context: Context,
    owned: Owned,
    /// How many partitions the topic has.
    partitions: u32,
    known: Shared,
    place: Option<Place>,
    followed: Instant,
}

impl Reader {
    pub(crate) fn new(context: Context, owned: Owned, partitions: u32, known: Shared) -> Reader {
        Reader { context, owned, partitions, known, place: None, followed: Instant::now() }
    }

    /// Reads until nobody asks any more.
    pub(crate) async fn read(
        mut self,
        mut requests: mpsc::UnboundedReceiver<Request>,
        told: mpsc::UnboundedSender<Told>,
    ) {
        while let Some(request) = requests.recv().await {
            let (begin, owned) = (request.begin, self.owned.clone());
            let fetched = self.fetch(request, &told).await;
            if fetched.is_err() {
                self.place = None;
            }
            let answer = match fetched {
                Ok(()) | Err(Fault::Missing) => Told::Fetched { owned, begin },
                Err(Fault::Failed(error)) => {
                    let event = Event::Failed { owned: owned.clone(), error };
                    Told::Stopped { owned, begin, event }
                }
                Err(Fault::OutOfRange(log)) => {
                    let event = Event::OutOfRange { owned: owned.clone(), log };
                    Told::Stopped { owned, begin, event }
                }
            };
            if told.send(answer).is_err() {
                return;
            }
        }
    }

    /// Fetches, and tells.
    async fn fetch(
        &mut self,
        request: Request,
        told: &mpsc::UnboundedSender<Told>,
    ) -> Result<(), Fault> {
        let Request { from, count, begin } = request;
        let is_new = self.place.as_ref().is_none_or(|place| place.sequence != from);
        // A server that is started again has no consumers: another one begins, and finds out what is wrong.
        let ended = |error: async_nats::Error| if is_new { fault(error) } else { Fault::Missing };
        if is_new {
            let begun = timeout(ANSWER, self.begin_at(from)).await;
            self.place = Some(begun.map_err(|_| Fault::Missing)??);
        }
        let Some(place) = &mut self.place else { return Ok(()) };
        let request = place.consumer.batch().max_messages(count).expires(WAIT);
        let mut batch = request.messages().await.map_err(fault)?;
        let mut left = count;
        while left > 0 {
            let first = timeout(WAIT + LATE, batch.next()).await;
            let Some(first) = first.map_err(|_| Fault::Missing)? else { break };
            let mut messages = vec![first.map_err(ended)?];
            while messages.len() < CHUNK.min(left)
                && let Some(Some(next)) = batch.next().now_or_never()
            {
                messages.push(next.map_err(ended)?);
            }
            left -= messages.len();
            let (records, is_whole) = take(&self.owned, place, &self.known, messages);
            if !records.is_empty() {
                let (owned, next) = (self.owned.clone(), place.sequence);
                let end = self.known.lock().end;
                let _ = told.send(Told::Records { owned, begin, records, next, end });
            }
            if !is_whole {
                return Err(Fault::Missing);
            }
        }
        if left == count && self.followed.elapsed() >= FOLLOW {
            let followed = timeout(ANSWER, self.follow(begin, told)).await;
            followed.map_err(|_| Fault::Missing)??;
        }
        Ok(())
    }

    /// Begins a consumer, and looks whether the log has the place.
    async fn begin_at(&self, sequence: u64) -> Result<Place, Fault> {
        let of = &self.owned.partition;
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: sequence.max(1) },
            ack_policy: AckPolicy::None,
            filter_subject: subject(of),
            inactive_threshold: Duration::from_secs(30),
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let made = self.context.create_consumer_on_stream(config, of.topic.to_string()).await;
        let consumer = made.map_err(fault)?;
        let before = self.known.lock().clone();
        let (partitions, place) = (self.partitions, Some(sequence));
        // The reader is there to see.
        let log = Log::of(&self.context, &of.topic).await?;
        let (log, known) = judge(&log, of, partitions, &before, place, u64::MAX).await?;
        *self.known.lock() = known;
        if log.is_other(before.identity) || !log.has_place(sequence) {
            return Err(Fault::OutOfRange(log));
        }
        Ok(Place { consumer, sequence, number: 1 })
    }

    /// Moves the place behind the last message of the stream, if no record of the partition is left before that: else the
    /// stream's first message would overtake the place of a partition that gets no records.
    async fn follow(
        &mut self,
        begin: u64,
        told: &mpsc::UnboundedSender<Told>,
    ) -> Result<(), Fault> {
        let (of, Some(place)) = (&self.owned.partition, &mut self.place) else { return Ok(()) };
        self.followed = Instant::now();
        let log = Log::of(&self.context, &of.topic).await?;
        if log.last.sequence < place.sequence || log.has_more(of, place.sequence).await? {
            return Ok(());
        }
        // While the consumer is there, all of that was said of one log.
        place.consumer.get_info().await.map_err(|_| Fault::Missing)?;
        let end = place.sequence;
        place.sequence = log.last.sequence + 1;
        {
            let mut known = self.known.lock();
            (known.witness, known.end) = (Some(log.last), end);
        }
        let (owned, records, next) = (self.owned.clone(), Vec::new(), place.sequence);
        let _ = told.send(Told::Records { owned, begin, records, next, end });
        Ok(())
    }
}

/// The records of messages, up to the first that is missing; and whether none is.
fn take(
    owned: &Owned,
    place: &mut Place,
    known: &Shared,
    messages: Vec<Message>,
) -> (Vec<Record>, bool) {
    let mut records = Vec::with_capacity(messages.len());
    let mut known = known.lock();
    for message in messages {
        let Some(Read { record, number, pending, time }) = record(owned, &message) else {
            continue;
        };
        if number != place.number {
            return (records, false);
        }
        let sequence = record.offset;
        (place.number, place.sequence) = (number + 1, sequence + 1);
        if known.witness.is_none_or(|witness| witness.sequence < sequence) {
            known.witness = Some(Witness { sequence, time });
        }
        known.end = if pending == 0 { sequence + 1 } else { known.end.max(sequence + 1 + pending) };
        records.push(record);
    }
    (records, true)
}

/// A record, its number among those of its consumer, how many are behind it, and when the server took it.
struct Read {
    record: Record,
    number: u64,
    pending: u64,
    time: i128,
}

fn record(owned: &Owned, message: &Message) -> Option<Read> {
    let info = message.info().ok()?;
    let key = message.subject.rsplit('.').next().and_then(key::decode);
    let headers = message.headers.iter().flat_map(|headers| headers.iter());
    let headers = headers.flat_map(|(name, values)| {
        let value =
            |value: &async_nats::HeaderValue| Bytes::copy_from_slice(value.as_str().as_bytes());
        values.iter().map(move |one| (name.to_string(), Some(value(one))))
    });
    let is_marker = message.headers.as_ref().is_some_and(|headers| headers.get(MARKER).is_some());
    let value = (!is_marker || !message.payload.is_empty()).then(|| message.payload.clone());
    let of = &owned.partition;
    let time = info.published.unix_timestamp_nanos();
    let record = Record {
        topic: Arc::clone(&of.topic),
        partition: of.partition,
        offset: info.stream_sequence,
        timestamp: (time / 1_000_000) as i64,
        key: key.map(Bytes::from),
        value,
        headers: headers.collect(),
    };
    Some(Read { record, number: info.consumer_sequence, pending: info.pending, time })
}
