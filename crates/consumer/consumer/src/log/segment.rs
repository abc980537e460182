//! A segment: one file with a row of frames, whose records have offsets without a gap.
//!
//! Invariants:
//!
//! * What `open` leaves in a file that is written to is a row of whole frames, and each record has the offset after the one
//!   before it. It cuts off what follows the first bad frame only if nothing says that it was confirmed: a write that was
//!   never confirmed ends like that, and so does a file without `sync` after a power failure, by zeros. All else is
//!   [damage](Fate::Damaged), and the file stays as it is.
//! * After an `fdatasync` that failed, the system may show bytes that it never brings to the device, not even by the next
//!   `fdatasync`. What is not on the device for sure, by the flags of the frames, is written again by `open`.
//! * With `sync`, a mark follows the last row when nothing waits to be written, and a segment that is complete ends with one.

use super::files::{Files, Handle, InUse};
use super::frame::{self, MARK, ROW, SYNCED, Spot};
use super::head::{SEGMENT_HEAD, SegmentHead};
use super::names::{file_name, path, sync_new};
use super::partition::Keep;
use super::scan::{Behind, LEAST_BYTES, Whole, Window, first_place};
use colored::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How many bytes lie between two places of the index. A guess: a search reads half of it on average.
const INDEX_BYTES: u64 = 64 << 10;

/// A file of records, and where some of them are.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The offset of the first record.
    pub(crate) base: u64,
    pub(crate) file: Arc<Handle>,
    /// The bytes that are confirmed. Of a segment that was complete when it was opened, all.
    pub(crate) len: u64,
    /// The time of the newest record, in milliseconds since 1970.
    pub(crate) newest: i64,
    /// Offsets with their places, ascending and sparse. Empty for a segment that was complete when it was opened.
    index: Vec<(u64, u64)>,
}

/// What opening a segment found.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) segment: Segment,
    /// The number of the log. `None` if the segment does not say it.
    pub(crate) identity: Option<u128>,
    /// The offset after the last record that can be read.
    pub(crate) next: u64,
    /// The bytes that were cut off.
    pub(crate) cut: u64,
    pub(crate) fate: Fate,
}

/// What a segment is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// To be written to.
    Whole,
    /// A crash came before the head was on the device, and so before any record.
    Unmade,
    /// Complete: another segment follows.
    Ended,
    /// To be read as far as that is possible. No record that it had has this offset or a higher one.
    Damaged(u64),
}

impl Segment {
    fn new(base: u64, file: Arc<Handle>, len: u64) -> Segment {
        Segment { base, file, len, newest: i64::MIN, index: Vec::new() }
    }

    /// Makes an empty segment, on the device when this returns.
    pub(crate) async fn create(
        files: &Arc<Files>,
        directory: &Path,
        head: SegmentHead,
        sync: bool,
    ) -> io::Result<Segment> {
        let path = directory.join(file_name(head.base));
        // A segment without a record may be left by a roll that a crash interrupted.
        let made = make_file(&path, head).await;
        let made = match made {
            Ok(file) if sync => sync_new(&file, directory).await,
            made => made.map(drop),
        };
        if made.is_err() {
            // The segment before it may grow on, and this one would hide what follows there.
            let _ = colored::fs::remove_file(&path).await;
        }
        made?;
        let file = files.handle(path);
        file.set_head(head);
        Ok(Segment::new(head.base, file, SEGMENT_HEAD))
    }

    /// Opens the segment that is written to, and cuts off what was never confirmed. With `sync`, what is left is on the device
    /// when this returns, and so is the segment's name. `known` is an offset that the log has reached for sure.
    ///
    /// # Errors
    ///
    /// The system's; and what is damaged, unless that is to be skipped.
    pub(crate) async fn open(
        files: &Arc<Files>,
        directory: &Path,
        base: u64,
        keep: Keep,
        known: u64,
    ) -> io::Result<Opened> {
        let handle = files.handle(path(directory, base));
        let file = handle.open().await?;
        let size = file.metadata().await?.len();
        let segment = Segment::new(base, Arc::clone(&handle), size);
        let head = handle.head(&file).await?.filter(|head| head.base == base);
        let head = head.filter(|_| size >= SEGMENT_HEAD);
        let Some(head) = head else {
            let fate = Fate::Damaged(base.saturating_add(size / LEAST_BYTES + 1));
            let is_unmade = size <= SEGMENT_HEAD
                || !keep.sync && Window::new(&file, 0, size).is_unwritten(0).await?;
            let fate = if is_unmade { Fate::Unmade } else { fate };
            if fate != Fate::Unmade && !keep.skips {
                return Err(damaged(&handle, 0, "its head is bad, and nothing of it can be read"));
            }
            let cut = if fate == Fate::Unmade { size } else { 0 };
            return Ok(Opened { segment, identity: None, next: base, cut, fate });
        };
        let mut opened = Opened {
            segment,
            identity: Some(head.identity),
            next: base,
            cut: 0,
            fate: Fate::Whole,
        };
        let mut window = Window::new(&file, head.salt, size);
        let segment = &mut opened.segment;
        let told = window.whole(first_place(base), |place, entry| {
            segment.note(place.next, place.at);
            segment.newest = segment.newest.max(entry.timestamp);
        });
        let whole = told.await?;
        opened.next = whole.end.next;
        if whole.is_ended {
            opened.fate = Fate::Ended;
        } else if let Some(fate) =
            judge(&handle, &mut window, &whole, keep.sync, (base, known)).await?
        {
            if !keep.skips {
                return Err(fate.1);
            }
            opened.fate = fate.0;
        } else {
            opened.segment.len = whole.end.at;
            opened.cut = size - whole.size;
            settle(&file, &mut window, &whole, keep.sync, directory).await?;
        }
        Ok(opened)
    }

    /// Opens a segment that is complete. Its frames are checked when they are read.
    pub(crate) async fn open_complete(
        files: &Arc<Files>,
        directory: &Path,
        base: u64,
    ) -> io::Result<Segment> {
        let path = path(directory, base);
        let metadata = colored::fs::metadata(&path).await?;
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let millis = since.and_then(|since| i64::try_from(since.as_millis()).ok());
        let mut segment = Segment::new(base, files.handle(path), metadata.len());
        segment.newest = millis.unwrap_or(i64::MIN);
        Ok(segment)
    }

    /// Records that a row of frames has been written behind the others. `first` is the offset of its first record.
    pub(crate) fn extend(&mut self, first: u64, bytes: u64, newest: i64) {
        self.note(first, self.len);
        self.len += bytes;
        self.newest = self.newest.max(newest);
    }

    /// A place at or before the record with this offset.
    pub(crate) fn place_before(&self, offset: u64) -> u64 {
        let after = self.index.partition_point(|(indexed, _)| *indexed <= offset);
        after.checked_sub(1).map_or(SEGMENT_HEAD, |at| self.index[at].1)
    }

    fn note(&mut self, offset: u64, place: u64) {
        let last = self.index.last().map_or(0, |(_, last)| *last);
        if place >= last + INDEX_BYTES {
            self.index.push((offset, place));
        }
    }
}

async fn make_file(path: &Path, head: SegmentHead) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(true).open(path).await?;
    file.write_all_at(&head.encode(), 0).await?;
    Ok(file)
}

/// Whether what follows the whole part of a file was confirmed: then it is damage, which an error tells.
async fn judge(
    handle: &Handle,
    window: &mut Window<'_>,
    whole: &Whole,
    sync: bool,
    (base, known): (u64, u64),
) -> io::Result<Option<(Fate, io::Error)>> {
    let Some(bad) = whole.bad else { return Ok(None) };
    let next = whole.end.next;
    let behind = window.behind(bad.at).await?;
    if !behind.is_confirmed
        && (known <= next || bad.is_short || !sync && window.is_unwritten(bad.at).await?)
    {
        return Ok(None);
    }
    let Behind { records, first, end, .. } = behind;
    let rest = match first {
        Some(first) => {
            format!("{records} behind it, from offset {} at byte {} on", first.next, first.at)
        }
        None => "none behind it".to_owned(),
    };
    let before = next - base;
    let text =
        format!("{before} records before it can be read, from offset {base} to {next}, and {rest}");
    // No record that cannot be read is left out of the count.
    let most = behind.next.max(known).max(next);
    let free = most.saturating_add((window.size - end.min(window.size)) / LEAST_BYTES + 1);
    let free = if behind.is_confirmed && end == window.size { most } else { free };
    Ok(Some((Fate::Damaged(free), damaged(handle, bad.at, &text))))
}

/// Cuts off what was never confirmed, and brings the rest to the device.
async fn settle(
    file: &InUse,
    window: &mut Window<'_>,
    whole: &Whole,
    sync: bool,
    directory: &Path,
) -> io::Result<()> {
    if sync {
        window.write_again(whole.in_doubt.at, whole.size).await?;
    }
    if whole.bad.is_some() {
        file.set_len(whole.size).await?;
    }
    if sync {
        sync_new(file, directory).await?;
        let end = whole.end;
        if whole.size == end.at && end.at > SEGMENT_HEAD {
            file.write_all_at(&mark(window.salt, end.at, end.next, 0), end.at).await?;
        }
    }
    Ok(())
}

/// A mark behind a row: all before it, up to the record before `next`, is on the device.
pub(crate) fn mark(salt: u64, at: u64, next: u64, flags: u32) -> Vec<u8> {
    let mut out = Vec::new();
    frame::append(&mut out, Spot { salt, at }, ROW | SYNCED | MARK | flags, |out| {
        out.extend_from_slice(&next.to_le_bytes());
    });
    out
}

/// The error of a file that is not what was written.
pub(crate) fn damaged(file: &Handle, at: u64, what: &str) -> io::Error {
    let text = format!(
        "{} is damaged at byte {at}: {what}. `Options::damage(Damage::Skip)` opens what is left",
        file.path().display()
    );
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests;
