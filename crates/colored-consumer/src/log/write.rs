//! The task that writes the appends of a partition: all that wait, by one write and one `fdatasync`.

use super::entry::Entry;
use super::frame;
use super::partition::{Keep, New, Partition, Pending};
use super::segment::{self, Segment};
use colored::fs::File;
use colored::time::system_time;
use std::io;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// What a write has done.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// A segment that began before the row.
    pub(crate) begun: Option<Segment>,
    pub(crate) bytes: u64,
    pub(crate) newest: i64,
    /// A segment that begins after the row.
    pub(crate) next: Option<Segment>,
}

/// Why a row was not written.
#[derive(Debug)]
pub(crate) struct Unwritten {
    pub(crate) text: String,
    /// Nobody knows what the device has.
    pub(crate) is_unknown: bool,
}

/// Where a row goes.
struct Target {
    file: Arc<File>,
    len: u64,
    first: u64,
}

/// Writes until nothing waits.
pub(crate) async fn write_all(partition: Arc<Partition>) {
    loop {
        let taken = partition.state.call(|state| {
            if state.pending.waiting.is_empty() {
                state.is_writing = false;
                return None;
            }
            let last = state.segments.last()?;
            let target = Target { file: Arc::clone(&last.file), len: last.len, first: state.end };
            Some((std::mem::take(&mut state.pending), target))
        });
        let Some((mut row, target)) = taken.await else { return };
        let written = write(&partition, &mut row, target).await;
        let (keep, now) = (partition.keep, now_in_millis());
        let confirm = partition.state.call(move |state| {
            state.confirm(written, row);
            state.remove_old(keep, now);
            !state.removed.is_empty()
        });
        if confirm.await {
            partition.delete_removed().await;
        }
    }
}

async fn write(
    partition: &Partition,
    row: &mut Pending,
    mut target: Target,
) -> Result<Written, Unwritten> {
    let Keep { segment_bytes, sync, .. } = partition.keep;
    let directory = &partition.directory;
    let mut written = Written { newest: i64::MIN, ..Written::default() };
    // An empty segment has this base already, and its name.
    if row.replaces && target.len > segment::SEGMENT_HEAD {
        let begun = Segment::create(directory, target.first, sync).await.map_err(known)?;
        (target.file, target.len) = (Arc::clone(&begun.file), begun.len);
        written.begun = Some(begun);
    }
    let bytes = encode(&mut row.records, target.first, sync, &mut written.newest);
    written.bytes = bytes.len() as u64;
    if let Err(error) = target.file.write_all_at(&bytes, target.len).await {
        // The next row begins at the same place: nothing of this one may follow it.
        let is_unknown = target.file.set_len(target.len).await.is_err();
        return Err(Unwritten { text: error.to_string(), is_unknown });
    }
    if sync && let Err(error) = target.file.sync_data().await {
        // The system may show the bytes for as long as it runs, and never write them: no opening may find them.
        let _ = target.file.set_len(target.len).await;
        return Err(Unwritten { text: error.to_string(), is_unknown: true });
    }
    if target.len + written.bytes >= segment_bytes {
        let base = target.first + row.records.len() as u64;
        // Without a new segment the old one grows on, and the next row tries again.
        written.next = Segment::create(directory, base, sync).await.ok();
    }
    Ok(written)
}

fn known(error: io::Error) -> Unwritten {
    Unwritten { text: error.to_string(), is_unknown: false }
}

/// The frames of a row. The keys and values are no longer needed after it. With `sync`, all before the row is on the
/// device, and the mark of its first frame says so.
fn encode(records: &mut [New], first: u64, sync: bool, newest: &mut i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (offset, record) in (first..).zip(records) {
        *newest = record.timestamp.max(*newest);
        let New { timestamp, key, value, headers } = std::mem::take(record);
        let entry = Entry { offset, timestamp, key, value, headers };
        frame::append(&mut bytes, sync && offset == first, |out| entry.encode(out));
    }
    bytes
}

/// The time, in milliseconds since 1970.
pub(crate) fn now_in_millis() -> i64 {
    system_time().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}
