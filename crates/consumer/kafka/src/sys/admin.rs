//! What the brokers say of logs: their ends, and the ids of their topics.

use super::{Event, Queue, code, partition, pointer, text};
use crate::calls::ANSWER;
use crate::context::{Client, add};
use colored_consumer::TopicPartition;
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Offset, TopicPartitionList};
use rdkafka_sys::bindings;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

/// The options of a call.
struct Options(*mut bindings::rd_kafka_AdminOptions_t);

impl Options {
    /// The options of a call whose answer is waited for as long as for any.
    fn new(client: &Client, call: bindings::rd_kafka_admin_op_t) -> Options {
        // SAFETY: The client lives as long as the reference.
        let options =
            Options(unsafe { bindings::rd_kafka_AdminOptions_new(pointer(client), call) });
        let millis = i32::try_from(ANSWER.as_millis()).unwrap_or(i32::MAX);
        let mut why = [0; 64];
        // SAFETY: The options are this one's, and the place for the text has that size. It refuses no such time.
        unsafe {
            bindings::rd_kafka_AdminOptions_set_request_timeout(
                options.0,
                millis,
                why.as_mut_ptr(),
                why.len(),
            )
        };
        options
    }

    fn read_committed(&self) {
        let level = bindings::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED;
        // SAFETY: The options are this one's. The call that they are for knows the level, so there is no error.
        unsafe { bindings::rd_kafka_AdminOptions_set_isolation_level(self.0, level) };
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: They are this one's alone.
        unsafe { bindings::rd_kafka_AdminOptions_destroy(self.0) };
    }
}

/// Makes a call with a queue for its answer, and waits for that.
fn ask(
    client: &Client,
    call: impl FnOnce(*mut bindings::rd_kafka_queue_t),
) -> Result<Event, RDKafkaErrorCode> {
    let queue = Queue::new(client);
    call(queue.0);
    let event = queue.wait();
    // SAFETY: The event is not null, and lives.
    match code(unsafe { bindings::rd_kafka_event_error(event.0) }) {
        Some(error) => Err(error),
        None => Ok(event),
    }
}

/// Places of logs: by partition what the broker says; `None` if no record is such.
pub(crate) type Ends = BTreeMap<TopicPartition, Result<Option<u64>, RDKafkaErrorCode>>;

/// Where these logs begin (`Offset::Beginning`) or end (`Offset::End`), or have their first record with a time or a later one
/// (`Offset::Offset` with the milliseconds since 1970): of all that is there, or of what a reader of committed records can read.
/// Waits for the brokers.
pub(crate) fn list_offsets(
    client: &Client,
    partitions: &[TopicPartition],
    which: Offset,
    is_committed: bool,
) -> Result<Ends, RDKafkaErrorCode> {
    if partitions.is_empty() {
        return Ok(Ends::new()); // The client takes that for an error.
    }
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    partitions.iter().for_each(|of| add(&mut list, of, which, ""));
    let options =
        Options::new(client, bindings::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_LISTOFFSETS);
    if is_committed {
        options.read_committed();
    }
    let event = ask(client, |queue| {
        // SAFETY: Client, list, options and queue live longer than the call, which copies what it needs of them and counts the
        // queue.
        unsafe { bindings::rd_kafka_ListOffsets(pointer(client), list.ptr(), options.0, queue) };
    })?;
    let mut count = 0;
    // SAFETY: The event is not null, and lives.
    let result = unsafe { bindings::rd_kafka_event_ListOffsets_result(event.0) };
    if result.is_null() {
        return Ok(Ends::new());
    }
    // SAFETY: It is not null, and lives as long as the event.
    let infos = unsafe { bindings::rd_kafka_ListOffsets_result_infos(result, &mut count) };
    let mut ends = Ends::new();
    for at in 0..count {
        // SAFETY: The client says that there are so many, as long as the event lives.
        let place = unsafe { infos.add(at) };
        // SAFETY: As above.
        let info = unsafe { place.read() };
        // SAFETY: As above.
        let element = unsafe { bindings::rd_kafka_ListOffsetsResultInfo_topic_partition(info) };
        // SAFETY: It is not null, and lives as long as the event.
        let element = unsafe { &*element };
        if let Some((partition, _)) = partition(element) {
            let offset = u64::try_from(element.offset).ok();
            ends.insert(partition, code(element.err).map_or(Ok(offset), Err));
        }
    }
    Ok(ends)
}

/// A topic that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    /// Another one for each topic that was ever made. `None` if the brokers are older than such numbers.
    pub(crate) id: Option<u128>,
    pub(crate) partitions: u32,
}

/// What the brokers say of these topics. Those that are not there are missing. Waits for a broker.
pub(crate) fn describe_topics(
    client: &Client,
    topics: &[Arc<str>],
) -> Result<BTreeMap<String, Described>, RDKafkaErrorCode> {
    let names: Vec<_> = topics.iter().filter_map(|name| CString::new(&**name).ok()).collect();
    let mut pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let options =
        Options::new(client, bindings::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS);
    let event = ask(client, |queue| {
        // SAFETY: The names live, and are copied.
        let all = unsafe {
            bindings::rd_kafka_TopicCollection_of_topic_names(pointers.as_mut_ptr(), pointers.len())
        };
        // SAFETY: Client, topics, options and queue live longer than the call, which copies what it needs of them and counts the
        // queue.
        unsafe { bindings::rd_kafka_DescribeTopics(pointer(client), all, options.0, queue) };
        // SAFETY: The collection is this one's alone.
        unsafe { bindings::rd_kafka_TopicCollection_destroy(all) };
    })?;
    let mut count = 0;
    // SAFETY: The event is not null, and lives.
    let result = unsafe { bindings::rd_kafka_event_DescribeTopics_result(event.0) };
    if result.is_null() {
        return Ok(BTreeMap::new());
    }
    // SAFETY: It is not null, and lives as long as the event.
    let all = unsafe { bindings::rd_kafka_DescribeTopics_result_topics(result, &mut count) };
    let mut described = BTreeMap::new();
    for at in 0..count {
        // SAFETY: The client says that there are so many, as long as the event lives.
        let place = unsafe { all.add(at) };
        // SAFETY: As above.
        let of = unsafe { place.read() };
        // SAFETY: As above.
        described.extend(unsafe { describe(of) });
    }
    Ok(described)
}

/// # Safety
///
/// The description lives.
unsafe fn describe(
    of: *const bindings::rd_kafka_TopicDescription_t,
) -> Option<(String, Described)> {
    // SAFETY: The caller promises that it lives.
    let error = unsafe { bindings::rd_kafka_TopicDescription_error(of) };
    // SAFETY: It is null, or lives as long as the description.
    if code(unsafe { bindings::rd_kafka_error_code(error) }).is_some() {
        return None;
    }
    // SAFETY: The caller promises that it lives.
    let name = unsafe { bindings::rd_kafka_TopicDescription_name(of) };
    // SAFETY: It is a text that lives as long as the description.
    let name = unsafe { text(name) };
    let mut partitions = 0;
    // SAFETY: The caller promises that it lives. Only the number is used.
    unsafe { bindings::rd_kafka_TopicDescription_partitions(of, &mut partitions) };
    // SAFETY: The caller promises that it lives.
    let id = unsafe { bindings::rd_kafka_TopicDescription_topic_id(of) };
    // SAFETY: It lives as long as the description.
    let high = unsafe { bindings::rd_kafka_Uuid_most_significant_bits(id) } as u64;
    // SAFETY: As above.
    let low = unsafe { bindings::rd_kafka_Uuid_least_significant_bits(id) } as u64;
    let id = u128::from(high) << 64 | u128::from(low);
    let partitions = u32::try_from(partitions).unwrap_or(u32::MAX);
    Some((name, Described { id: Some(id).filter(|id| *id != 0), partitions }))
}
