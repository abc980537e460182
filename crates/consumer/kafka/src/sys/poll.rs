//! Records and events of the client's queues. The safe interface tells an error without its partition.

use super::{Event, code, elements, partition, partitions, pointer, text};
use crate::context::Client;
use bytes::Bytes;
use colored_consumer::{Record, TopicPartition};
use rdkafka::types::{RDKafkaErrorCode, RDKafkaRespErr};
use rdkafka_sys::bindings;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// What a client has for its member.
pub(crate) enum Polled {
    Message(Message),
    Failed(Failure),
    /// The group gives partitions, or wants them back.
    Rebalance(RDKafkaRespErr, Vec<TopicPartition>),
    Log(Line),
    /// Statistics, as JSON.
    Statistics(String),
    Other,
}

/// A line for the log.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) level: i32,
    pub(crate) facility: String,
    pub(crate) text: String,
}

/// An error of the client.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: RDKafkaErrorCode,
    pub(crate) is_fatal: bool,
    pub(crate) text: String,
    /// Its partition, if it has one, and the offset at which it stands there.
    pub(crate) place: Option<(TopicPartition, u64)>,
}

/// The queue of a client.
pub(crate) struct ClientQueue<'a> {
    queue: *mut bindings::rd_kafka_queue_t,
    /// The queue ends before it.
    _client: &'a Client,
}

impl Drop for ClientQueue<'_> {
    fn drop(&mut self) {
        // SAFETY: This reference to it is this one's alone, and the client still lives.
        unsafe { bindings::rd_kafka_queue_destroy(self.queue) };
    }
}

impl ClientQueue<'_> {
    /// The queue of a client that has a group.
    pub(crate) fn of(client: &Client) -> ClientQueue<'_> {
        // SAFETY: The client lives as long as the reference.
        let queue = unsafe { bindings::rd_kafka_queue_get_consumer(pointer(client)) };
        assert!(!queue.is_null(), "the client has a group");
        ClientQueue { queue, _client: client }
    }

    /// Takes what has come, without a wait; `None` if nothing has.
    pub(crate) fn poll(&self) -> Option<Polled> {
        // SAFETY: The queue is not null, and lives.
        unsafe { poll(self.queue) }
    }
}

/// Takes what has come into a queue, without a wait; `None` if nothing has.
///
/// # Safety
///
/// The queue is not null, and lives.
pub(super) unsafe fn poll(queue: *mut bindings::rd_kafka_queue_t) -> Option<Polled> {
    // SAFETY: The caller promises it.
    let event = Event(unsafe { bindings::rd_kafka_queue_poll(queue, 0) });
    if event.0.is_null() {
        return None;
    }
    // SAFETY: The event is not null, and lives.
    let kind = unsafe { bindings::rd_kafka_event_type(event.0) };
    Some(match kind {
        bindings::RD_KAFKA_EVENT_FETCH => message(event),
        bindings::RD_KAFKA_EVENT_ERROR => Polled::Failed(failure(&event)),
        bindings::RD_KAFKA_EVENT_REBALANCE => rebalance(&event),
        bindings::RD_KAFKA_EVENT_LOG => line(&event),
        bindings::RD_KAFKA_EVENT_STATS => statistics(&event),
        _ => Polled::Other,
    })
}

fn statistics(event: &Event) -> Polled {
    // SAFETY: The event is not null, and lives.
    let json = unsafe { bindings::rd_kafka_event_stats(event.0) };
    // SAFETY: It is null, or lives as long as the event.
    Polled::Statistics(unsafe { text(json) })
}

fn message(event: Event) -> Polled {
    // SAFETY: The event is not null, and lives. The message lives as long.
    let message = unsafe { bindings::rd_kafka_event_message_next(event.0) };
    // SAFETY: It is null, or lives as long as the event.
    match unsafe { message.as_ref() } {
        Some(of) if code(of.err).is_none() => Polled::Message(Message { message, _event: event }),
        Some(_) => Polled::Failed(failure(&event)),
        None => Polled::Other,
    }
}

fn failure(event: &Event) -> Failure {
    // SAFETY: The event is not null, and lives.
    let error = unsafe { bindings::rd_kafka_event_error(event.0) };
    // SAFETY: As above. The text lives as long as the event.
    let why = unsafe { bindings::rd_kafka_event_error_string(event.0) };
    // SAFETY: As above.
    let text = unsafe { text(why) };
    // SAFETY: As above.
    let is_fatal = unsafe { bindings::rd_kafka_event_error_is_fatal(event.0) } != 0;
    Failure { code: error.into(), is_fatal, text, place: place(event) }
}

fn place(event: &Event) -> Option<(TopicPartition, u64)> {
    // SAFETY: The event is not null, and lives.
    let found = unsafe { bindings::rd_kafka_event_topic_partition(event.0) };
    // SAFETY: It is null, or lives until it is destroyed.
    let place = partition(unsafe { found.as_ref() }?);
    // SAFETY: It is not null, and this one's alone.
    unsafe { bindings::rd_kafka_topic_partition_destroy(found) };
    place
}

fn rebalance(event: &Event) -> Polled {
    // SAFETY: The event is not null, and lives.
    let what = unsafe { bindings::rd_kafka_event_error(event.0) };
    // SAFETY: As above. The list belongs to the event.
    let list = unsafe { bindings::rd_kafka_event_topic_partition_list(event.0) };
    if list.is_null() {
        return Polled::Other;
    }
    // SAFETY: It is not null, and lives as long as the event, which is dropped behind its last use.
    Polled::Rebalance(what, partitions(unsafe { elements(list) }))
}

fn line(event: &Event) -> Polled {
    let (mut facility, mut line, mut level) = (std::ptr::null(), std::ptr::null(), 0);
    // SAFETY: The event is not null, and lives, and so do the three places.
    let failed =
        unsafe { bindings::rd_kafka_event_log(event.0, &mut facility, &mut line, &mut level) };
    if failed != 0 {
        return Polled::Other;
    }
    // SAFETY: It lives as long as the event.
    let facility = unsafe { text(facility) };
    // SAFETY: As above.
    Polled::Log(Line { level, facility, text: unsafe { text(line) } })
}

/// A record as the client has it.
pub(crate) struct Message {
    /// Not null. It lives as long as the event.
    message: *const bindings::rd_kafka_message_t,
    _event: Event,
}

impl Message {
    fn get(&self) -> &bindings::rd_kafka_message_t {
        // SAFETY: It is not null, and lives as long as the event, which is this one's alone.
        unsafe { &*self.message }
    }

    /// Whether it is a record of this partition.
    pub(crate) fn is_of(&self, partition: &TopicPartition) -> bool {
        if i64::from(self.get().partition) != i64::from(partition.partition) {
            return false;
        }
        // SAFETY: A message without an error has its topic.
        let name = unsafe { bindings::rd_kafka_topic_name(self.get().rkt) };
        // SAFETY: It is a text that lives as long as the topic, and so the message.
        let name = unsafe { CStr::from_ptr(name) };
        name.to_bytes() == partition.topic.as_bytes()
    }

    /// Copies it.
    pub(crate) fn record(&self, of: &TopicPartition) -> Record {
        let message = self.get();
        let mut kind = bindings::rd_kafka_timestamp_type_t::RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
        // SAFETY: The message and the place for the kind live.
        let time = unsafe { bindings::rd_kafka_message_timestamp(self.message, &mut kind) };
        Record {
            topic: Arc::clone(&of.topic),
            partition: of.partition,
            offset: u64::try_from(message.offset).unwrap_or(0),
            timestamp: time.max(0),
            // SAFETY: The client says that so many bytes are there, as long as the message lives.
            key: unsafe { bytes(message.key, message.key_len) },
            // SAFETY: As above.
            value: unsafe { bytes(message.payload, message.len) },
            headers: self.headers(),
        }
    }

    fn headers(&self) -> Vec<(String, Option<Bytes>)> {
        let mut list = std::ptr::null_mut();
        // SAFETY: The message and the place for the list live.
        let found = unsafe { bindings::rd_kafka_message_headers(self.message, &mut list) };
        let mut headers = Vec::new();
        if code(found).is_some() {
            return headers; // There are none.
        }
        loop {
            let (mut name, mut value, mut size) = (std::ptr::null(), std::ptr::null(), 0);
            // SAFETY: The list lives as long as the message, and the three places live.
            let found = unsafe {
                bindings::rd_kafka_header_get_all(
                    list,
                    headers.len(),
                    &mut name,
                    &mut value,
                    &mut size,
                )
            };
            if code(found).is_some() {
                return headers; // It was the last.
            }
            // SAFETY: It is a text that lives as long as the message.
            let name = unsafe { text(name) };
            // SAFETY: It is null, or has so many bytes, which live as long as the message.
            headers.push((name, unsafe { bytes(value, size) }));
        }
    }
}

/// Copies bytes of the client; `None` for null.
///
/// # Safety
///
/// It is null, or so many bytes are there and live as long as the call.
unsafe fn bytes(start: *const c_void, count: usize) -> Option<Bytes> {
    if start.is_null() {
        return None;
    }
    // SAFETY: The caller promises that they are there.
    Some(Bytes::copy_from_slice(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), count) }))
}
