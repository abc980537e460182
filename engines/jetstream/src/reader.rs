//! The task that reads a partition.
//!
//! It fetches what it is asked for, by a consumer of the server that begins at a sequence number and acknowledges nothing.
//! The server numbers what it sends to a consumer. A number that is missing was lost on the way: then another consumer
//! begins at the first record that is missing.
//!
//! A reader that fails tries again for ever: a server that is away comes back, and the agent notices a stream that was
//! deleted. The reader does not tell its errors to the member: the errors of many partitions would end the
//! consumer within seconds.

use crate::agent::{Told, range};
use crate::key;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::{Context, Message, consumer};
use bytes::Bytes;
use colored_consumer::{Event, Owned, Record};
use futures_util::{FutureExt, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long the server waits for records before it answers that there are none.
const WAIT: Duration = Duration::from_secs(2);

/// How much later an answer counts as lost.
const LATE: Duration = Duration::from_millis(500);

/// How long after an error the next request is sent, and how long after many.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How many records are told at once.
const CHUNK: usize = 128;

/// What a reader is asked for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) from: u64,
    pub(crate) count: usize,
    /// Which begin of the partition it belongs to.
    pub(crate) begin: u64,
}

/// A consumer of the server, and what it sends next.
struct Place {
    consumer: consumer::Consumer<pull::Config>,
    sequence: u64,
    number: u64,
}

/// Reads until nobody asks any more.
pub(crate) async fn read(
    context: Context,
    owned: Owned,
    mut requests: mpsc::UnboundedReceiver<Request>,
    told: mpsc::UnboundedSender<Told>,
) {
    let (mut place, mut pause, mut is_out) = (None, PAUSE, false);
    while let Some(request) = requests.recv().await {
        let begin = request.begin;
        match fetch(&context, &owned, &mut place, request, &told).await {
            Ok(()) => (pause, is_out) = (PAUSE, false),
            Err(error) => {
                place = None;
                if let Some(text) = error.filter(|_| !is_out) {
                    let of = &owned.partition;
                    eprintln!("colored-consumer-jetstream: {of} is tried again: {text}");
                    is_out = true;
                }
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        }
        if told.send(Told::Fetched { owned: owned.clone(), begin }).is_err() {
            return;
        }
    }
}

/// Fetches, and tells. An error without a text is none: what was lost is asked for again.
async fn fetch(
    context: &Context,
    owned: &Owned,
    place: &mut Option<Place>,
    Request { from, count, begin }: Request,
    told: &mpsc::UnboundedSender<Told>,
) -> Result<(), Option<String>> {
    if place.as_ref().is_none_or(|place| place.sequence != from) {
        let log =
            range(context, &owned.partition).await.map_err(|error| Some(error.to_string()))?;
        if from < log.start {
            let event = Event::OutOfRange { owned: owned.clone(), log };
            let _ = told.send(Told::Event(event));
            return Ok(());
        }
        let consumer = begin_at(context, owned, from).await.map_err(Some)?;
        *place = Some(Place { consumer, sequence: from, number: 1 });
    }
    let Some(place) = place else { return Ok(()) };
    let request = place.consumer.batch().max_messages(count).expires(WAIT);
    let mut batch = request.messages().await.map_err(|error| Some(error.to_string()))?;
    let mut left = count;
    while left > 0 {
        let first = tokio::time::timeout(WAIT + LATE, batch.next()).await;
        let Some(first) = first.map_err(|_| None)? else { break };
        let mut messages = vec![first.map_err(|error| Some(error.to_string()))?];
        while messages.len() < CHUNK.min(left)
            && let Some(Some(next)) = batch.next().now_or_never()
        {
            messages.push(next.map_err(|error| Some(error.to_string()))?);
        }
        left -= messages.len();
        let (mut records, mut end) = (Vec::with_capacity(messages.len()), 0);
        let mut is_whole = true;
        for message in messages {
            let Some((record, number, pending)) = record(owned, &message) else { continue };
            is_whole = number == place.number;
            if !is_whole {
                break;
            }
            (place.number, place.sequence) = (number + 1, record.offset + 1);
            end = record.offset + 1 + pending;
            records.push(record);
        }
        if !records.is_empty() {
            let _ = told.send(Told::Records { owned: owned.clone(), begin, records, end });
        }
        if !is_whole {
            return Err(None);
        }
    }
    Ok(())
}

async fn begin_at(
    context: &Context,
    owned: &Owned,
    sequence: u64,
) -> Result<consumer::Consumer<pull::Config>, String> {
    let of = &owned.partition;
    let config = pull::Config {
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: sequence.max(1) },
        ack_policy: AckPolicy::None,
        filter_subject: format!("{}.p.{}.*", of.topic, of.partition),
        inactive_threshold: Duration::from_secs(30),
        memory_storage: true,
        num_replicas: 1,
        ..pull::Config::default()
    };
    let made = context.create_consumer_on_stream(config, of.topic.to_string()).await;
    made.map_err(|error| error.to_string())
}

/// A record, its number among those of its consumer, and how many are behind it.
fn record(owned: &Owned, message: &Message) -> Option<(Record, u64, u64)> {
    let info = message.info().ok()?;
    let key = message.subject.rsplit('.').next().and_then(key::decode);
    let headers = message.headers.iter().flat_map(|headers| headers.iter());
    let headers = headers.flat_map(|(name, values)| {
        let value = |value: &async_nats::HeaderValue| {
            Some(Bytes::copy_from_slice(value.as_str().as_bytes()))
        };
        values.iter().map(move |one| (name.to_string(), value(one)))
    });
    let of = &owned.partition;
    let record = Record {
        topic: Arc::clone(&of.topic),
        partition: of.partition,
        offset: info.stream_sequence,
        timestamp: (info.published.unix_timestamp_nanos() / 1_000_000) as i64,
        key: key.map(Bytes::from),
        value: Some(message.payload.clone()),
        headers: headers.collect(),
    };
    Some((record, info.consumer_sequence, info.pending))
}
