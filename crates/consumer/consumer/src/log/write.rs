//! The task that writes the appends of a partition: all that wait, by one write and one `fdatasync`.

use super::entry::Entry;
use super::files::{Handle, InUse};
use super::frame::{self, END, ROW, SYNCED, Spot};
use super::head::{SEGMENT_HEAD, SegmentHead};
use super::partition::{Keep, New, Partition, Pending, State};
use super::segment::{self, Segment};
use colored::io::named;
use colored::time::Duration;
use std::fmt::Display;
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
#[derive(Debug)]
struct Target {
    file: Arc<Handle>,
    len: u64,
    first: u64,
}

/// What is to be written next.
#[derive(Debug)]
enum Turn {
    Row(Pending, Target),
    /// A mark behind the last row.
    Mark(Target),
    /// Nothing waits.
    End,
}

/// Writes until nothing waits.
pub(crate) async fn write_all(partition: Arc<Partition>) {
    let marks = partition.keep.sync;
    loop {
        match partition.state.call(move |state| next_turn(state, marks)).await {
            Turn::Row(row, target) => write_row(&partition, row, target).await,
            Turn::Mark(Target { file, len, first }) => {
                // Without a mark the log is as good, but for a damage of its last row.
                let _ = write_mark(&file, len, first, 0).await;
            }
            Turn::End => return,
        }
    }
}

fn next_turn(state: &mut State, marks: bool) -> Turn {
    let last = state.segments.last().expect("a partition has a segment");
    let target = Target { file: Arc::clone(&last.file), len: last.len, first: state.end };
    if !state.pending.waiting.is_empty() {
        return Turn::Row(std::mem::take(&mut state.pending), target);
    }
    let is_marked = state.marked.replace(state.end) == Some(state.end);
    if marks && !is_marked && !state.is_in_doubt && target.len > SEGMENT_HEAD {
        return Turn::Mark(target);
    }
    state.is_writing = false;
    state.closing.clear();
    Turn::End
}

async fn write_mark(file: &Handle, at: u64, next: u64, flags: u32) -> io::Result<InUse> {
    let open = file.open().await?;
    let head = file.head(&open).await?.ok_or_else(|| no_head(file))?;
    open.write_all_at(&segment::mark(head.salt, at, next, flags), at).await?;
    Ok(open)
}

async fn write_row(partition: &Partition, mut row: Pending, target: Target) {
    let written = write(partition, &mut row, target).await;
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

async fn write(
    partition: &Partition,
    row: &mut Pending,
    mut target: Target,
) -> Result<Written, Unwritten> {
    let Keep { segment_bytes, sync, .. } = partition.keep;
    let mut written = Written { newest: i64::MIN, ..Written::default() };
    // An empty segment has this base already, and its name.
    if row.replaces && target.len > SEGMENT_HEAD {
        let begun = named(begin_segment(partition, target.first)).await.map_err(known)?;
        (target.file, target.len) = (Arc::clone(&begun.file), begun.len);
        written.begun = Some(begun);
    }
    let file = named(target.file.open()).await.map_err(known)?;
    let head = named(target.file.head(&file)).await.map_err(known)?;
    let head = head.ok_or_else(|| known(no_head(&target.file)))?;
    let spot = Spot { salt: head.salt, at: target.len };
    let bytes = encode(&mut row.records, target.first, sync, spot, &mut written.newest);
    written.bytes = bytes.len() as u64;
    if let Err(error) = named(file.write_all_at(&bytes, target.len)).await {
        // The next row begins at the same place: nothing of this one may follow it.
        let is_unknown = file.set_len(target.len).await.is_err();
        return Err(Unwritten { text: error.to_string(), is_unknown });
    }
    if sync && let Err(error) = named(file.sync_data()).await {
        // The system may show the bytes for as long as it runs, and never write them: no opening may find them.
        let _ = file.set_len(target.len).await;
        return Err(Unwritten { text: error.to_string(), is_unknown: true });
    }
    drop(file);
    let end = target.len + written.bytes;
    if end >= segment_bytes {
        let base = target.first + row.records.len() as u64;
        // Without a new segment the old one grows on, and the next row tries again.
        written.next = begin_segment(partition, base).await.ok();
        if sync && written.next.is_some() {
            end_segment(&target.file, end, base).await;
        }
    }
    Ok(written)
}

async fn begin_segment(partition: &Partition, base: u64) -> io::Result<Segment> {
    let Partition { directory, keep, commons, identity, .. } = partition;
    let head = SegmentHead::new(base, base, *identity);
    Segment::create(&commons.files, directory, head, keep.sync).await
}

/// Says at the end of a segment that another one follows.
async fn end_segment(file: &Handle, at: u64, next: u64) {
    // Without it, only the loss of the next segment as a whole would not be noticed.
    if let Ok(file) = write_mark(file, at, next, END).await {
        let _ = file.sync_data().await;
    }
}

fn known(error: impl Display) -> Unwritten {
    Unwritten { text: error.to_string(), is_unknown: false }
}

fn no_head(file: &Handle) -> io::Error {
    segment::damaged(file, 0, "its head is bad")
}

/// The frames of a row. The keys and values are no longer needed after it. All before the row is confirmed, and with `sync` it
/// is on the device; the flags of its first frame say so.
fn encode(records: &mut [New], first: u64, sync: bool, spot: Spot, newest: &mut i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (offset, record) in (first..).zip(records) {
        *newest = record.timestamp.max(*newest);
        let New { timestamp, key, value, headers } = std::mem::take(record);
        let entry = Entry { offset, timestamp, key, value, headers };
        let spot = Spot { at: spot.at + bytes.len() as u64, ..spot };
        let flags = match (offset == first, sync) {
            (true, true) => ROW | SYNCED,
            (true, false) => ROW,
            (false, _) => 0,
        };
        frame::append(&mut bytes, spot, flags, |out| entry.encode(out));
    }
    bytes
}

/// The time of day since 1970; a simulation has its own.
pub(crate) fn since_1970() -> Duration {
    colored::time::system_time().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time of day, in milliseconds since 1970.
pub(crate) fn now_in_millis() -> i64 {
    i64::try_from(since_1970().as_millis()).unwrap_or(i64::MAX)
}
