//! What the safe interface of the client lacks: the membership in the group, the result of a commit by partition, bytes
//! of metadata, the known end of a partition, errors with their partitions (`poll`), their queues (`partition`), and what logs
//! have (`admin`). With its parts, the only module with `unsafe`.

mod admin;
mod partition;
mod poll;

pub(crate) use self::admin::{Described, Ends, describe_topics, list_offsets};
pub(crate) use self::partition::PartitionQueue;
pub(crate) use self::poll::{ClientQueue, Failure, Line, Message, Polled};

use crate::context::Client;
use colored_consumer::TopicPartition;
use rdkafka::TopicPartitionList;
use rdkafka::consumer::Consumer;
use rdkafka::types::{RDKafka, RDKafkaErrorCode, RDKafkaRespErr};
use rdkafka_sys::bindings;
use std::ffi::{CStr, CString, c_char};

fn pointer(client: &Client) -> *mut RDKafka {
    client.client().native_ptr()
}

/// What the client knows of its membership.
struct Membership(*mut bindings::rd_kafka_consumer_group_metadata_t);

impl Membership {
    fn of(client: &Client) -> Option<Membership> {
        // SAFETY: The client lives as long as the reference.
        let found = unsafe { bindings::rd_kafka_consumer_group_metadata(pointer(client)) };
        (!found.is_null()).then_some(Membership(found))
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        // SAFETY: It is not null, and this one's alone.
        unsafe { bindings::rd_kafka_consumer_group_metadata_destroy(self.0) };
    }
}

/// The generation of the group. `None` while the member is not in it.
pub(crate) fn generation(client: &Client) -> Option<u32> {
    let membership = Membership::of(client)?;
    // SAFETY: It is not null, and lives.
    let generation =
        unsafe { bindings::rd_kafka_consumer_group_metadata_generation_id(membership.0) };
    u32::try_from(generation).ok()
}

/// Whether the broker has given the member an id.
pub(crate) fn has_id(client: &Client) -> bool {
    let Some(membership) = Membership::of(client) else { return false };
    // SAFETY: It is not null, and lives.
    let id = unsafe { bindings::rd_kafka_consumer_group_metadata_member_id(membership.0) };
    if id.is_null() {
        return false;
    }
    // SAFETY: It is a text that ends with a zero, and lives as long as the membership.
    let id = unsafe { CStr::from_ptr(id) };
    !id.is_empty()
}

/// The offset after the last record of a partition, as the client heard at last.
pub(crate) fn known_end(client: &Client, partition: &TopicPartition) -> Option<u64> {
    let topic = CString::new(&*partition.topic).ok()?;
    let number = i32::try_from(partition.partition).ok()?;
    let (mut low, mut high) = (0, 0);
    // SAFETY: The client, the name and the two numbers live longer than the call.
    let error = unsafe {
        bindings::rd_kafka_get_watermark_offsets(
            pointer(client),
            topic.as_ptr(),
            number,
            &mut low,
            &mut high,
        )
    };
    let is_known = error == RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR;
    u64::try_from(high).ok().filter(|_| is_known)
}

/// The metadata of each element of a list. It may be no text: it is anybody's.
pub(crate) fn metadata(list: &TopicPartitionList) -> Vec<Vec<u8>> {
    // SAFETY: The list lives as long as the reference, and nothing changes it meanwhile.
    let elements = unsafe { elements(list.ptr()) };
    let bytes = |element: &bindings::rd_kafka_topic_partition_t| {
        if element.metadata.is_null() {
            return Vec::new();
        }
        let start = element.metadata.cast::<u8>();
        // SAFETY: The client says that so many bytes are there, and the list lives.
        unsafe { std::slice::from_raw_parts(start, element.metadata_size) }.to_vec()
    };
    elements.iter().map(bytes).collect()
}

/// The elements of a list.
///
/// # Safety
///
/// The list is not null, and for the time of `'a` it lives and nobody changes it.
unsafe fn elements<'a>(
    list: *mut bindings::rd_kafka_topic_partition_list_t,
) -> &'a [bindings::rd_kafka_topic_partition_t] {
    // SAFETY: The caller promises that it lives.
    let list = unsafe { &*list };
    match usize::try_from(list.cnt) {
        // SAFETY: The client says that there are so many.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(list.elems, count) },
        _ => &[],
    }
}

/// The partition of an element, and its offset; 0 if it is none.
fn partition(element: &bindings::rd_kafka_topic_partition_t) -> Option<(TopicPartition, u64)> {
    let partition = u32::try_from(element.partition).ok()?;
    // SAFETY: It lives as long as the element.
    let topic = unsafe { text(element.topic) };
    let offset = u64::try_from(element.offset).unwrap_or(0);
    Some((TopicPartition { topic: topic.into(), partition }, offset))
}

fn partitions(elements: &[bindings::rd_kafka_topic_partition_t]) -> Vec<TopicPartition> {
    elements.iter().filter_map(partition).map(|(partition, _)| partition).collect()
}

/// Copies a text of the client; an empty one for null.
///
/// # Safety
///
/// It is null, or a text that ends with a zero and lives as long as the call.
unsafe fn text(of: *const c_char) -> String {
    if of.is_null() {
        return String::new();
    }
    // SAFETY: The caller promises that it lives and ends.
    unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned()
}

/// A queue for the result of a call.
struct Queue(*mut bindings::rd_kafka_queue_t);

impl Queue {
    fn new(client: &Client) -> Queue {
        // SAFETY: The client lives as long as the reference.
        Queue(unsafe { bindings::rd_kafka_queue_new(pointer(client)) })
    }

    /// Waits for the result, as long as it takes: the client has a limit for the time of each call.
    fn wait(&self) -> Event {
        loop {
            // SAFETY: The queue lives; -1 waits as long as it takes.
            let event = Event(unsafe { bindings::rd_kafka_queue_poll(self.0, -1) });
            if !event.0.is_null() {
                return event;
            }
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: It is this one's alone, and the client still lives: the call has a reference.
        unsafe { bindings::rd_kafka_queue_destroy(self.0) };
    }
}

/// What comes out of a queue. It ends before the client.
struct Event(*mut bindings::rd_kafka_event_t);

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: It is this one's alone.
        unsafe { bindings::rd_kafka_event_destroy(self.0) };
    }
}

/// Commits, and waits for the broker; returns what it says of each element of the list. The client itself has a limit for
/// the time.
pub(crate) fn commit(
    client: &Client,
    list: &TopicPartitionList,
) -> Result<Vec<Option<RDKafkaErrorCode>>, RDKafkaErrorCode> {
    let queue = Queue::new(client);
    // SAFETY: Client, list and queue live longer than the call, which copies the list and counts the queue. No function is
    // given, so no argument of it is used.
    let begun = unsafe {
        bindings::rd_kafka_commit_queue(
            pointer(client),
            list.ptr(),
            queue.0,
            None,
            std::ptr::null_mut(),
        )
    };
    code(begun).map_or(Ok(()), Err)?;
    let event = queue.wait();
    // SAFETY: The event is not null, and lives.
    let all = code(unsafe { bindings::rd_kafka_event_error(event.0) });
    // SAFETY: As above. The list belongs to the event.
    let results = unsafe { bindings::rd_kafka_event_topic_partition_list(event.0) };
    if results.is_null() {
        return all.map_or_else(|| Ok(vec![None; list.count()]), Err);
    }
    // SAFETY: It is not null, and lives as long as the event, which is dropped behind its last use.
    let results = unsafe { elements(results) };
    let by_element: Vec<_> = results.iter().map(|element| code(element.err)).collect();
    match all {
        // The error of all elements is not always in each of them.
        Some(error) if by_element.iter().all(Option::is_none) => Err(error),
        _ => Ok(by_element),
    }
}

fn code(error: RDKafkaRespErr) -> Option<RDKafkaErrorCode> {
    (error != RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR).then(|| error.into())
}
