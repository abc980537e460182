//! A segment: one file with a row of frames, whose records have offsets without a gap.
//!
//! Invariant: what `open` leaves in the file is a row of whole frames, and each record has the offset after the one
//! before it. The first bad frame and all that follows are cut off. A write that was never confirmed ends like that:
//! records are confirmed only when `fdatasync` has returned, and frames are written one after the other.
//!
//! After an `fdatasync` that failed, the system may show bytes that it never brings to the device, not even by the next
//! `fdatasync`. A row of frames is written only when all before it is on the device, and the mark of its first frame says
//! so. What follows the last mark is in doubt: `open` writes it again.

use super::entry::{Entry, segment_head};
use super::frame::{self, Found, HEAD};
use colored::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many bytes lie between two places of the index. A guess: a search reads half of it on average.
const INDEX_BYTES: u64 = 64 << 10;

/// How many bytes a scan reads at a time.
const SCAN_BYTES: usize = 1 << 20;

/// The bytes of the head of a segment.
pub(crate) const SEGMENT_HEAD: u64 = (HEAD + 24) as u64;

/// A file of records, and where some of them are.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The offset of the first record.
    pub(crate) base: u64,
    pub(crate) file: Arc<File>,
    /// The bytes that are on the device.
    pub(crate) len: u64,
    /// The time of the newest record, in milliseconds since 1970.
    pub(crate) newest: i64,
    /// Offsets with their places, ascending and sparse. Empty for a segment that was complete when it was opened.
    index: Vec<(u64, u64)>,
}

/// A place between two frames, with the offset of the record behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    at: u64,
    next: u64,
}

/// What opening a segment found.
pub(crate) struct Opened {
    pub(crate) segment: Segment,
    /// The offset after the last record.
    pub(crate) next: u64,
    /// The bytes that were cut off.
    pub(crate) cut: u64,
}

/// The name of the file whose first record has this offset.
pub(crate) fn file_name(base: u64) -> String {
    format!("{base:020}.log")
}

/// The offset in the name of a segment's file.
pub(crate) fn base_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".log").filter(|digits| digits.len() == 20)?;
    digits.parse().ok()
}

impl Segment {
    /// Makes an empty segment, on the device when this returns.
    pub(crate) async fn create(directory: &Path, base: u64, sync: bool) -> io::Result<Segment> {
        let path = directory.join(file_name(base));
        // A segment without a record may be left by a roll that a crash interrupted.
        let made = Segment::make_file(&path, base).await;
        let made = match made {
            Ok(file) if sync => sync_new(&file, directory).await.map(|()| file),
            made => made,
        };
        if made.is_err() {
            // The segment before it may grow on, and this one would hide what follows there.
            let _ = colored::fs::remove_file(&path).await;
        }
        let file = made?;
        let newest = i64::MIN;
        Ok(Segment { base, file: Arc::new(file), len: SEGMENT_HEAD, newest, index: Vec::new() })
    }

    async fn make_file(path: &Path, base: u64) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(path).await?;
        let mut head = Vec::new();
        frame::append(&mut head, false, |out| out.extend_from_slice(&segment_head(base)));
        file.write_all_at(&head, 0).await?;
        Ok(file)
    }

    /// Opens the segment that is written to, and cuts off what is not a row of frames. With `sync`, what is left is on the
    /// device when this returns, and so is the segment's name.
    pub(crate) async fn open(directory: &Path, base: u64, sync: bool) -> io::Result<Opened> {
        let mut file = open_file(&directory.join(file_name(base))).await?;
        let size = file.seek(io::SeekFrom::End(0)).await?;
        let mut segment =
            Segment { base, file: Arc::new(file), len: 0, newest: i64::MIN, index: Vec::new() };
        let start = Place { at: 0, next: base };
        let [mut end, in_doubt] = segment.scan(start, size, false).await?;
        if sync {
            [end, _] = segment.scan(in_doubt, end.at, true).await?;
        }
        let next = end.next;
        let cut = size - segment.len;
        if cut > 0 {
            segment.file.set_len(segment.len).await?;
        }
        if segment.len == 0 {
            // A crash came before the head was on the device, and so before any record.
            let segment = Segment::create(directory, base, sync).await?;
            return Ok(Opened { segment, next: base, cut });
        }
        if sync {
            sync_new(&segment.file, directory).await?;
        }
        Ok(Opened { segment, next, cut })
    }

    /// Opens a segment that is complete. Its frames are checked when they are read.
    pub(crate) async fn open_complete(directory: &Path, base: u64) -> io::Result<Segment> {
        let file = open_file(&directory.join(file_name(base))).await?;
        let metadata = file.metadata().await?;
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let newest = since.map_or(i64::MIN, |since| since.as_millis() as i64);
        let len = metadata.len();
        Ok(Segment { base, file: Arc::new(file), len, newest, index: Vec::new() })
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

    /// Finds the end of the row of frames from a place on, and writes the row again if asked to. Returns the end, and the
    /// first place that is in doubt.
    async fn scan(&mut self, from: Place, size: u64, writes: bool) -> io::Result<[Place; 2]> {
        let (mut next, mut in_doubt) = (from.next, from);
        let (mut wanted, mut bytes) = (SCAN_BYTES, Vec::new());
        self.len = from.at;
        while self.len < size {
            bytes.resize(wanted.min((size - self.len) as usize), 0);
            self.file.read_exact_at(&mut bytes, self.len).await?;
            let start = self.len;
            let missing = self.scan_chunk(&bytes, &mut next, &mut in_doubt);
            if writes {
                let row = &bytes[..(self.len - start) as usize];
                self.file.write_all_at(row, start).await?;
            }
            let Some(missing) = missing.filter(|missing| *missing as u64 <= size - self.len) else {
                break;
            };
            wanted = SCAN_BYTES.max(missing);
        }
        Ok([Place { at: self.len, next }, in_doubt])
    }

    /// Accepts the frames of a chunk; returns the bytes of the frame that the chunk has not whole. `None` if no more follow.
    fn scan_chunk(&mut self, bytes: &[u8], next: &mut u64, in_doubt: &mut Place) -> Option<usize> {
        let mut rest = bytes;
        loop {
            match frame::read(rest) {
                Found::Payload(payload) => {
                    let here = Place { at: self.len, next: *next };
                    if !self.accept(payload, next) {
                        return None;
                    }
                    if frame::is_marked(rest) {
                        *in_doubt = here;
                    }
                    let length = HEAD + payload.len();
                    rest = &rest[length..];
                    self.len += length as u64;
                }
                Found::Short(length) => return Some(length),
                Found::Bad => return None,
            }
        }
    }

    /// Whether the payload at the end is what must stand there.
    fn accept(&mut self, payload: &[u8], next: &mut u64) -> bool {
        if self.len == 0 {
            return payload == segment_head(self.base);
        }
        match Entry::decode(payload) {
            Some(entry) if entry.offset == *next => {
                self.note(*next, self.len);
                self.newest = self.newest.max(entry.timestamp);
                *next += 1;
                true
            }
            _ => false,
        }
    }
}

async fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path).await
}

/// Brings a file and its name to the device.
async fn sync_new(file: &File, directory: &Path) -> io::Result<()> {
    file.sync_all().await?;
    sync_directory(directory).await
}

/// Makes the names in a directory survive a crash of the machine.
pub(crate) async fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory).await?.sync_all().await } else { Ok(()) }
}

/// Makes a directory, and each directory above it that does not exist. With `sync`, the names of the new directories survive
/// a crash of the machine. The names of this directory and of the one above it survive it too, even if an earlier call made
/// them and a crash came before their sync.
pub(crate) async fn create_directories(directory: &Path, sync: bool) -> io::Result<()> {
    let mut missing = Vec::new();
    let mut at = directory;
    loop {
        match (colored::fs::create_dir(at).await, at.parent()) {
            (Err(error), Some(above)) if error.kind() == io::ErrorKind::NotFound => {
                missing.push(at);
                at = above;
            }
            (Err(error), _) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => break,
        }
    }
    for path in missing.iter().rev() {
        colored::fs::create_dir(path).await?;
    }
    let names = 2.max(missing.len() + 1);
    let holders = directory.ancestors().skip(1).take(names);
    for holder in holders.filter(|_| sync) {
        let is_here = holder == Path::new("");
        match sync_directory(if is_here { Path::new(".") } else { holder }).await {
            // What this user may not read was not made here.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            synced => synced?,
        }
    }
    Ok(())
}

/// The segments in a directory, by the offsets of their first records, ascending.
pub(crate) async fn bases(directory: &Path) -> io::Result<Vec<u64>> {
    let mut bases = Vec::new();
    let mut entries = colored::fs::read_dir(directory).await?;
    while let Some(entry) = entries.next_entry().await? {
        bases.extend(entry.file_name().to_str().and_then(base_of));
    }
    bases.sort_unstable();
    Ok(bases)
}

/// Deletes a segment. With `sync`, it does not come back after a crash of the machine.
pub(crate) async fn delete(directory: &Path, base: u64, sync: bool) -> io::Result<()> {
    match colored::fs::remove_file(path(directory, base)).await {
        // The sync of an earlier call failed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        deleted => deleted?,
    }
    if sync { sync_directory(directory).await } else { Ok(()) }
}

/// The path of a segment.
pub(crate) fn path(directory: &Path, base: u64) -> PathBuf {
    directory.join(file_name(base))
}

#[cfg(test)]
mod tests {
    use super::super::{Keep, New, Partition};
    use super::*;
    use crate::scratch::Scratch;

    /// Rows of two records each, by an engine that waits for the device or not; returns the offset from which the file is
    /// in doubt.
    async fn in_doubt_after(rows: &[bool]) -> u64 {
        let scratch = Scratch::new();
        for sync in rows {
            let keep = Keep { segment_bytes: 1 << 20, bytes: None, millis: None, sync: *sync };
            let partition = Partition::open(scratch.path(), keep, None).await.unwrap();
            partition.append(vec![New::default(), New::default()]).await.unwrap();
        }
        let file = Arc::new(open_file(&path(scratch.path(), 0)).await.unwrap());
        let size = file.metadata().await.unwrap().len();
        let mut segment = Segment { base: 0, file, len: 0, newest: i64::MIN, index: Vec::new() };
        let start = Place { at: 0, next: 0 };
        let [end, in_doubt] = segment.scan(start, size, false).await.unwrap();
        assert_eq!(end, Place { at: size, next: 2 * rows.len() as u64 });
        in_doubt.next
    }

    /// What follows the last mark is written again, and nothing else.
    #[colored::test]
    async fn the_last_row_is_in_doubt_and_all_that_did_not_wait_for_the_device() {
        assert_eq!(in_doubt_after(&[true, true, true]).await, 4);
        assert_eq!(in_doubt_after(&[true, true, false, false]).await, 2);
        assert_eq!(in_doubt_after(&[false, false, true]).await, 4);
        assert_eq!(in_doubt_after(&[false, false]).await, 0);
    }
}
