//! What a member does next. A step is kept until it is done, so that a dropped poll loses nothing of it.

use super::engine::Shared;
use super::group::{Change, Joining, MemberId};
use super::offsets::Begun;
use super::topics;
use crate::log::{Cursor, Entry, Partition, Unread};
use crate::source::{Assignment, Error, Extent, Owned, Record, Room, TopicPartition};
use colored::sync::Notify;
use colored::time::{Duration, timeout};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

/// A step under way.
pub(crate) type Step = Pin<Box<dyn Future<Output = Result<Done, Error>> + Send>>;

/// What a step has done.
#[derive(Debug)]
pub(crate) enum Done {
    /// What the group says. The id is another one if the member had been taken for dead.
    Heard(MemberId, Vec<Change>),
    /// Another member has the name of this static member.
    Replaced,
    /// A change is ready to be told.
    Prepared(Prepared),
    /// Records of a partition.
    Read {
        owned: Owned,
        /// Where its reader was before.
        from: u64,
        /// Where it is after them.
        cursor: Cursor,
        /// None if it has passed over lost ones, and no other follows yet.
        records: Vec<Record>,
        end: u64,
    },
    /// The log has not the wanted record.
    OutOfRange {
        owned: Owned,
        /// The offset of that record.
        from: u64,
        log: Extent,
    },
    /// The partition cannot be read.
    Unreadable {
        owned: Owned,
        /// Where its reader was before.
        from: u64,
        error: Error,
    },
    /// Something may have happened.
    Woken,
}

/// A change of the group, with what the member needs for it.
#[derive(Debug)]
pub(crate) enum Prepared {
    Assigned(Assignment, Arc<Partition>),
    Revoked(Owned),
    Lost(Owned),
}

/// A partition that a member may read.
#[derive(Debug)]
pub(crate) struct Readable {
    pub(crate) owned: Owned,
    pub(crate) log: Arc<Partition>,
    pub(crate) cursor: Cursor,
}

/// Hears from the group, and joins again if it has forgotten the member.
pub(crate) async fn hear(
    shared: Arc<Shared>,
    group: String,
    id: MemberId,
    joining: Joining,
    wake: Arc<Notify>,
) -> Result<Done, Error> {
    let now = shared.now();
    let heard = shared.groups.call(move |groups| {
        let members = groups.get_mut(&group).expect("a group stays");
        let heard = members.group.poll(id, now);
        if heard.is_none() && members.group.has_instance(&joining) {
            return None;
        }
        let (id, changes) = heard.map_or_else(
            || {
                members.wakes.remove(&id);
                let id = members.group.join(joining, now);
                members.wakes.insert(id, Arc::downgrade(&wake));
                (id, Vec::new())
            },
            |changes| (id, changes),
        );
        members.wake();
        Some((id, changes))
    });
    Ok(heard.await.map_or(Done::Replaced, |(id, changes)| Done::Heard(id, changes)))
}

/// The error of a static member whose name another one has taken.
pub(crate) async fn refuse(instance: Option<String>) -> Result<Done, Error> {
    let name = instance.unwrap_or_default();
    Err(Error::new(format!(
        "another member has joined as {name:?}, and this one has lost everything"
    )))
}

/// Looks up what belongs to a change.
pub(crate) async fn prepare(
    shared: Arc<Shared>,
    group: String,
    change: Change,
) -> Result<Done, Error> {
    let (partition, generation) = match change {
        Change::Assigned(partition, generation) => (partition, generation),
        Change::Revoked(partition, generation) => {
            return Ok(Done::Prepared(Prepared::Revoked(Owned { partition, generation })));
        }
        Change::Lost(partition, generation) => {
            return Ok(Done::Prepared(Prepared::Lost(Owned { partition, generation })));
        }
    };
    let owned = Owned { partition: partition.clone(), generation };
    let find = async || {
        let of = partition.clone();
        shared.topics.call(move |topics| topics::find(topics, &of)).await
    };
    // The topic was deleted meanwhile, and the group is about to say so.
    let Some(log) = find().await else { return Ok(Done::Prepared(Prepared::Lost(owned))) };
    // A generation that nobody can have after a restart is on the device before anybody has it.
    if shared.offsets.generation(&group).await < generation {
        shared.offsets.store_generation(&group, generation).await.map_err(Error::new)?;
    }
    let committed = match shared.offsets.begin(&group, &partition, generation).await {
        Begun::At(committed) => committed,
        // This member was taken for dead meanwhile, and the group is about to say so.
        Begun::TooLate => return Ok(Done::Prepared(Prepared::Lost(owned))),
    };
    // Perhaps it was made again, and the offset is that of the one before.
    if !find().await.is_some_and(|now| Arc::ptr_eq(&now, &log)) {
        return Ok(Done::Prepared(Prepared::Lost(owned)));
    }
    let has_other_commits = shared.offsets.has_others(&group, &partition).await;
    let extent = extent(&log).await;
    let assignment = Assignment { owned, committed, log: extent, has_other_commits };
    Ok(Done::Prepared(Prepared::Assigned(assignment, log)))
}

/// The ends of a log, which has nothing behind the last record.
pub(crate) async fn extent(log: &Partition) -> Extent {
    let ((start, end), identity) = (log.range().await, Some(log.identity));
    Extent { doubt: start, floor: start, start, end, limit: end, identity }
}

/// The place of a time in a log.
pub(crate) async fn find_time(
    log: &Partition,
    of: &TopicPartition,
    timestamp: i64,
) -> Result<u64, Error> {
    let what = match log.find_time(timestamp).await {
        Ok(offset) => return Ok(offset),
        Err(Unread::Failed(error)) => error.to_string(),
        Err(Unread::Closed) => "its topic is deleted".to_owned(),
        Err(Unread::OutOfRange(start, end)) => format!("its log is from {start} to {end} now"),
        Err(Unread::Lost(lost)) => {
            format!("the records from {} to {} are lost", lost.start, lost.end)
        }
    };
    Err(Error::new(format!("{of}: {what}")))
}

/// Reads from a partition, into an empty vector.
pub(crate) async fn read(
    readable: Readable,
    room: Room,
    records: Vec<Record>,
) -> Result<Done, Error> {
    let Readable { owned, log, mut cursor } = readable;
    // Each read has a name of its own: the workers would slow each other down if they counted the references of one.
    let topic: Arc<str> = Arc::from(&*owned.partition.topic);
    let partition = owned.partition.partition;
    let (from, make) = (cursor.offset, |entry| record(&topic, partition, entry));
    match log.read(&mut cursor, (room.records, room.bytes), records, make).await {
        Ok(records) if records.is_empty() && cursor.offset == from => Ok(Done::Woken),
        Ok(records) => Ok(Done::Read { owned, from, cursor, records, end: log.end() }),
        Err(Unread::OutOfRange(_, _)) => {
            Ok(Done::OutOfRange { owned, from, log: Box::pin(extent(&log)).await })
        }
        // The group was not there when the records were lost.
        Err(Unread::Lost(Range { start: doubt, end: start })) => {
            let behind = Extent { doubt, floor: start, start, ..Box::pin(extent(&log)).await };
            Ok(Done::OutOfRange { owned, from, log: behind })
        }
        // The topic is deleted, and the group is about to say so.
        Err(Unread::Closed) => Ok(Done::Woken),
        Err(Unread::Failed(error)) => {
            Ok(Done::Unreadable { owned, from, error: Error::new(error.to_string()) })
        }
    }
}

/// Waits until something happens, or so long.
pub(crate) async fn wait(wake: Arc<Notify>, time: Duration) -> Result<Done, Error> {
    // In time or not, the member looks.
    let _ = timeout(time, wake.notified()).await;
    Ok(Done::Woken)
}

fn record(topic: &Arc<str>, partition: u32, entry: Entry) -> Record {
    let Entry { offset, timestamp, key, value, headers } = entry;
    Record { topic: Arc::clone(topic), partition, offset, timestamp, key, value, headers }
}
