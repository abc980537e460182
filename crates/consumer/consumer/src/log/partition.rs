//! A partition: a row of segments, of which the last is written to.
//!
//! Invariants:
//!
//! * An append is confirmed only when its bytes are on the device (`fdatasync`), and is read only then. All appends
//!   that wait share the next call.
//! * The offsets of confirmed records have no gap, but for records that are lost. No offset is given twice: where the log is
//!   shorter than it was for sure, it goes on at the offset that it had reached.
//! * Segments are deleted from the oldest on, and each is gone from the device before the next one is deleted: whatever a
//!   crash leaves has no gap.
//! * A write that fails leaves the file as it was, and the appends of that write have failed. After an `fdatasync`
//!   that failed nobody knows what the device has: the partition takes no more until it is opened again.
//! * A closed partition touches no file of its directory, which may be another one's by then.

use super::files::{FILES, Files, Handle};
use super::head::SEGMENT_HEAD;
use super::names;
use super::opening::{self, Begin};
use super::segment::Segment;
use super::write::{Unwritten, Written, write_all};
use bytes::Bytes;
use colored::sync::{Mutex, Notify, oneshot};
use colored::{Color, ColorCell};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// How a partition is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// A segment that has so many bytes is complete, and the next begins.
    pub(crate) segment_bytes: u64,
    /// The oldest segments go while all together have more bytes.
    pub(crate) bytes: Option<u64>,
    /// Segments go whose newest record is older, in milliseconds.
    pub(crate) millis: Option<i64>,
    /// Whether appends wait for the device.
    pub(crate) sync: bool,
    /// Whether what is damaged is passed over, and is no error.
    pub(crate) skips: bool,
}

/// A record that is not in a log yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct New {
    pub(crate) timestamp: i64,
    pub(crate) key: Option<Bytes>,
    pub(crate) value: Option<Bytes>,
    pub(crate) headers: Vec<(String, Option<Bytes>)>,
}

impl New {
    /// The bytes in the log, without the numbers.
    pub(crate) fn size(&self) -> usize {
        let length = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let headers = self.headers.iter().map(|(name, value)| name.len() + length(value));
        length(&self.key) + length(&self.value) + headers.sum::<usize>()
    }
}

/// Waits until an append is on the device; its result is the offset of the first record.
pub(crate) type Confirmation = oneshot::Receiver<Result<u64, String>>;

/// The lock of the directory that the partition is in, if there is one.
pub(crate) type Lock = Option<Arc<dyn Any + Send + Sync>>;

/// What the partitions of an engine share.
#[derive(Clone, Debug)]
pub(crate) struct Commons {
    /// Held, and never looked at.
    pub(crate) _lock: Lock,
    pub(crate) files: Arc<Files>,
}

impl Default for Commons {
    fn default() -> Self {
        Commons { _lock: None, files: Files::new(FILES) }
    }
}

/// A partition. Its state belongs to a color of its own.
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) directory: PathBuf,
    pub(crate) keep: Keep,
    pub(crate) state: ColorCell<State>,
    /// As the state says.
    end: Arc<AtomicU64>,
    /// The bytes that `open` cut off.
    pub(crate) cut: u64,
    /// The number of the log. Another log has another one.
    pub(crate) identity: u128,
    /// The damaged file that `open` passed over.
    pub(crate) damaged: Option<PathBuf>,
    /// Held while files are deleted.
    deleting: Mutex<()>,
    /// Whether the directory may be another one's.
    is_closed: AtomicBool,
    /// The lock of the directory. The writing task holds the partition, and so the lock, until its last write has ended: no other
    /// engine can open the directory before.
    pub(crate) commons: Commons,
}

/// What belongs to the color of the partition.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) segments: Vec<Segment>,
    /// The bases of segments whose files are to be deleted.
    pub(crate) removed: BTreeSet<u64>,
    /// The offset after the last confirmed record, and what the readers see of it.
    pub(crate) end: u64,
    seen_end: Arc<AtomicU64>,
    pub(crate) pending: Pending,
    /// Whether a task writes, and who waits for its end.
    pub(crate) is_writing: bool,
    pub(crate) closing: Vec<oneshot::Sender<()>>,
    /// The end behind which a mark was written last.
    pub(crate) marked: Option<u64>,
    /// Whether nobody knows what the device has.
    pub(crate) is_in_doubt: bool,
    pub(crate) failure: Option<String>,
    /// Offsets of records that are lost, by the first of each row.
    lost: BTreeMap<u64, u64>,
    /// The waker that a new record wakes.
    subscribers: Vec<Weak<Notify>>,
}

/// Appends that are not being written yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) records: Vec<New>,
    /// With the number of records of the row that come before.
    pub(crate) waiting: Vec<(u64, oneshot::Sender<Result<u64, String>>)>,
    /// Begin a new segment first, and delete all others afterwards.
    pub(crate) replaces: bool,
}

/// Where the reader of a partition goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    pub(crate) offset: u64,
    /// The segment with the place in it, if a read ended there.
    pub(crate) known: Option<(u64, u64)>,
}

/// A part of a file that may be read.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) file: Arc<Handle>,
    pub(crate) base: u64,
    /// At or before the frame of the wanted record.
    pub(crate) at: u64,
    /// The end of the confirmed frames.
    pub(crate) end: u64,
    /// The segment behind it. `None` if the segment is the one that is written to.
    pub(crate) next: Option<(u64, Arc<Handle>)>,
    /// The mean length of its frames.
    pub(crate) mean: usize,
}

/// Why records cannot be read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The log has the offsets from the first number up to the second only.
    OutOfRange(u64, u64),
    /// The records from the first offset up to the second are lost: the log was shorter at an opening than a commit said.
    Lost(Range<u64>),
    /// The directory may be another one's.
    Closed,
    Failed(io::Error),
}

impl Partition {
    /// Opens the partition in a directory, which it makes if needed.
    pub(crate) async fn open(
        directory: &Path,
        keep: Keep,
        commons: Commons,
        begin: Begin,
    ) -> io::Result<Arc<Partition>> {
        colored::fs::create_dir_all(directory).await?;
        let opened = opening::open(directory, keep, &commons.files, begin).await?;
        let end = Arc::new(AtomicU64::new(opened.end));
        let state = State {
            segments: opened.segments,
            removed: BTreeSet::new(),
            end: opened.end,
            seen_end: Arc::clone(&end),
            pending: Pending::default(),
            is_writing: false,
            closing: Vec::new(),
            marked: Some(opened.end),
            is_in_doubt: false,
            failure: None,
            lost: opened.lost.into_iter().map(|lost| (lost.start, lost.end)).collect(),
            subscribers: Vec::new(),
        };
        Ok(Arc::new(Partition {
            directory: directory.to_owned(),
            keep,
            state: ColorCell::new(Color::unique(), state),
            end,
            cut: opened.cut,
            identity: opened.identity,
            damaged: opened.damaged,
            deleting: Mutex::new(()),
            is_closed: AtomicBool::new(false),
            commons,
        }))
    }

    /// Appends a row of records, in this order and with nothing in between. Cancel safe: a dropped call may still
    /// append.
    pub(crate) async fn append(self: &Arc<Self>, records: Vec<New>) -> Result<u64, String> {
        let partition = Arc::clone(self);
        let confirmation = self.state.call(move |state| state.append(&partition, records)).await;
        confirmation.await.unwrap_or_else(|_| Err("the runtime shuts down".to_owned()))
    }

    /// The offset of the first record, and the offset after the last.
    pub(crate) async fn range(&self) -> (u64, u64) {
        self.state.call(|state| (state.start(), state.end)).await
    }

    /// Deletes the files of the segments that were removed. If one cannot be deleted, it and those behind it stay for the
    /// next call, or are found again by the next opening.
    pub(crate) async fn delete_removed(&self) {
        let _guard = self.deleting.lock().await;
        while let Some(base) = self.state.call(|state| state.removed.first().copied()).await {
            if names::delete(&self.directory, base, self.keep.sync).await.is_err() {
                return;
            }
            self.state.call(move |state| state.removed.remove(&base)).await;
        }
    }

    /// Refuses all appends from now on, and waits until no file of the directory is written or deleted.
    pub(crate) async fn close(&self, why: &str) {
        // Ordering: Release, with the Acquire of `is_closed`: who reads another one's file sees it.
        self.is_closed.store(true, Ordering::Release);
        let (why, (sender, written)) = (why.to_owned(), oneshot::channel());
        let close = move |state: &mut State| {
            state.fail(why);
            state.removed.clear();
            if state.is_writing {
                state.closing.push(sender);
            }
        };
        self.state.call(close).await;
        // The sender is dropped if nothing is written.
        let _ = written.await;
        drop(self.deleting.lock().await);
    }

    /// Whether the directory may be another one's.
    pub(crate) fn is_closed(&self) -> bool {
        // Ordering: Acquire, with the Release of `close`.
        self.is_closed.load(Ordering::Acquire)
    }

    /// Records that are lost, as far as it is known.
    pub(crate) async fn lost(&self) -> Vec<Range<u64>> {
        self.state.call(|state| state.lost.iter().map(|(from, to)| *from..*to).collect()).await
    }

    pub(crate) async fn note_lost(&self, lost: Range<u64>) {
        if !lost.is_empty() {
            let note = move |state: &mut State| {
                let to = state.lost.entry(lost.start).or_default();
                *to = lost.end.max(*to);
            };
            self.state.call(note).await;
        }
    }

    /// The offset after the last confirmed record. Costs less than a call.
    pub(crate) fn end(&self) -> u64 {
        // Ordering: Acquire, with the Release of `confirm`.
        self.end.load(Ordering::Acquire)
    }

    /// Wakes `reader` at each new record, as long as it lives.
    pub(crate) fn subscribe(&self, reader: &Arc<Notify>) {
        let reader = Arc::downgrade(reader);
        self.state.post(move |state| {
            state.subscribers.retain(|other| other.strong_count() > 0);
            state.subscribers.push(reader);
        });
    }
}

impl State {
    pub(crate) fn start(&self) -> u64 {
        self.segments.first().map_or(0, |segment| segment.base)
    }

    /// Puts records in line for the next write, and begins that if none is under way.
    pub(crate) fn append(&mut self, partition: &Arc<Partition>, records: Vec<New>) -> Confirmation {
        let (sender, confirmation) = oneshot::channel();
        if let Some(failure) = &self.failure {
            let _ = sender.send(Err(failure.clone()));
            return confirmation;
        }
        self.pending.waiting.push((self.pending.records.len() as u64, sender));
        self.pending.records.extend(records);
        self.start_writing(partition);
        confirmation
    }

    /// Puts records in line that replace all others: they begin a new segment, and the segments before it go.
    pub(crate) fn replace(
        &mut self,
        partition: &Arc<Partition>,
        records: Vec<New>,
    ) -> Confirmation {
        self.pending.replaces = true;
        self.append(partition, records)
    }

    fn start_writing(&mut self, partition: &Arc<Partition>) {
        if !std::mem::replace(&mut self.is_writing, true) {
            let _detached = colored::spawn_unique(write_all(Arc::clone(partition)));
        }
    }

    /// Takes what a write has done, and wakes who waits for it.
    pub(crate) fn confirm(&mut self, written: Result<Written, Unwritten>, row: Pending) {
        match written {
            Ok(written) => {
                let first = self.end;
                self.end += row.records.len() as u64;
                // Ordering: Release, with the Acquire of `end`. A reader that is woken below sees it.
                self.seen_end.store(self.end, Ordering::Release);
                self.change_segments(first, written, row.replaces);
                for (before, sender) in row.waiting {
                    let _ = sender.send(Ok(first + before));
                }
                for reader in self.subscribers.iter().filter_map(Weak::upgrade) {
                    reader.notify_one();
                }
            }
            Err(Unwritten { text, is_unknown }) => {
                for (_, sender) in row.waiting {
                    let _ = sender.send(Err(text.clone()));
                }
                if is_unknown {
                    self.is_in_doubt = true;
                    self.fail(text);
                }
            }
        }
    }

    /// Takes no more: what waits has failed, too.
    fn fail(&mut self, text: String) {
        for (_, sender) in std::mem::take(&mut self.pending).waiting {
            let _ = sender.send(Err(text.clone()));
        }
        self.failure.get_or_insert(text);
    }

    fn change_segments(&mut self, first: u64, written: Written, replaces: bool) {
        self.segments.extend(written.begun);
        if let Some(last) = self.segments.last_mut() {
            last.extend(first, written.bytes, written.newest);
        }
        if replaces {
            let last = self.segments.len() - 1;
            self.removed.extend(self.segments.drain(..last).map(|segment| segment.base));
        }
        self.segments.extend(written.next);
    }

    /// The place of an offset.
    pub(crate) fn find(&self, cursor: Cursor) -> Result<Place, Unread> {
        let (start, offset) = (self.start(), cursor.offset);
        if offset < start || offset > self.end {
            return Err(Unread::OutOfRange(start, self.end));
        }
        // The last segment may be empty, so that several begin at one offset only if it is the end.
        let at = self.segments.partition_point(|segment| segment.base <= offset).saturating_sub(1);
        let segment = &self.segments[at];
        let known = cursor.known.filter(|(base, _)| *base == segment.base);
        let next = self.segments.get(at + 1);
        let count = next.map_or(self.end, |next| next.base) - segment.base;
        Ok(Place {
            file: Arc::clone(&segment.file),
            base: segment.base,
            at: known.map_or_else(|| segment.place_before(offset), |(_, at)| at),
            end: segment.len,
            next: next.map(|next| (next.base, Arc::clone(&next.file))),
            mean: usize::try_from(segment.len / count.max(1)).unwrap_or(usize::MAX).max(1),
        })
    }

    /// Removes from the front what the rule keeps no longer; never the segment with the last record, whether it is complete or is
    /// written to, and nothing of a partition that takes no more.
    pub(crate) fn remove_old(&mut self, keep: Keep, now: i64) {
        while self.segments.get(1).is_some_and(|second| second.base < self.end)
            && self.failure.is_none()
        {
            let bytes = |segment: &Segment| segment.len.saturating_sub(SEGMENT_HEAD);
            let all: u64 = self.segments.iter().map(bytes).sum();
            let oldest = &self.segments[0];
            let is_much = keep.bytes.is_some_and(|most| all > most);
            let is_old = keep.millis.is_some_and(|most| now.saturating_sub(oldest.newest) > most);
            if !is_much && !is_old {
                break;
            }
            self.removed.insert(self.segments.remove(0).base);
        }
    }
}
