//! Reads records of a partition, in order.

use super::body::Bodies;
use super::entry::Entry;
use super::files::Handle;
use super::frame::{Found, HEAD, MARK, Salted};
use super::head::SegmentHead;
use super::partition::{Cursor, Partition, Place, Unread};
use super::scan::Window;
use super::segment::damaged;
use std::io;
use std::sync::Arc;

/// How many bytes a read takes from the file. The bench `cpu` of the consumer chose it: with 64 KiB a record takes 8 % more,
/// and the records of `sleep` are done 0.5 % earlier, because the last of 12 partitions begins earlier.
const READ_BYTES: usize = 256 << 10;

/// The first read of a partition.
const FIRST_BYTES: usize = 64 << 10;

/// What a read takes beside the records that there is room for.
const PAGE_BYTES: usize = 4 << 10;

/// What a record and a header count beside their bytes: as in `Record::size`.
const RECORD_BYTES: usize = 128;
const HEADER_BYTES: usize = 64;

/// How the reading of a segment stopped.
enum Stop {
    /// At the room, or at the end of what was read.
    Enough,
    /// The segment has no more.
    End,
    /// No whole frame is at this place.
    Bad(u64),
}

impl Partition {
    /// What `make` makes of the records from `cursor` on, at most so many and so many bytes, and at least one if there is
    /// one, in the empty vector that is given. Moves the cursor behind them. Empty at the end of the log. Cancel safe: the cursor moves only when the call
    /// returns.
    ///
    /// What is damaged is an error that names the place, and what is lost is one that names the offsets, unless it is to be
    /// skipped: then the cursor moves behind it.
    pub(crate) async fn read<T>(
        &self,
        cursor: &mut Cursor,
        (records, bytes): (usize, usize),
        mut found: Vec<T>,
        make: impl Fn(Entry) -> T,
    ) -> Result<Vec<T>, Unread> {
        // One record may exceed it.
        let room = (records, bytes.max(1));
        let mut here = *cursor;
        loop {
            let place = self.state.call(move |state| state.find(here)).await?;
            // As many as may come, so that they are not moved to a larger place again and again.
            let left =
                usize::try_from(self.end().saturating_sub(here.offset)).unwrap_or(usize::MAX);
            found.reserve(room.0.min(left).min(READ_BYTES / place.mean + 1));
            let tell = |entry| found.push(make(entry));
            let stop = Box::pin(read_place(&place, &mut here, room, tell)).await;
            if self.is_closed() {
                return Err(Unread::Closed);
            }
            let stop = match stop {
                Ok(stop) => stop,
                Err(error) => {
                    // Retention may have deleted the file meanwhile.
                    self.state.call(move |state| state.find(here)).await?;
                    return Err(Unread::Failed(name(&place.file, error)));
                }
            };
            if !found.is_empty() {
                *cursor = here;
                return Ok(found);
            }
            // In boxes, or each read would have room for what few do.
            let passed = match (stop, &place.next) {
                (Stop::Enough, _) => continue,
                (Stop::End, None) => {
                    *cursor = here;
                    return Ok(found);
                }
                (Stop::End, Some(next)) => Box::pin(self.pass(&place, here.offset, next)).await,
                (Stop::Bad(at), _) if self.keep.skips => {
                    Box::pin(self.skip(&place, here.offset, at)).await
                }
                (Stop::Bad(at), _) => {
                    let what = format!("offset {} cannot be read", here.offset);
                    Err(damaged(&place.file, at, &what))
                }
            };
            let passed = passed.map_err(Unread::Failed)?;
            // What is damaged is known to the program by its option.
            if !self.keep.skips && passed.offset > here.offset {
                return Err(Unread::Lost(here.offset..passed.offset));
            }
            here = passed;
        }
    }

    /// The offset of the first record with this time or a later one; the end of the log if there is none. It halves the log, so
    /// where times fall it is some place where they pass this one. Cancel safe.
    pub(crate) async fn find_time(&self, timestamp: i64) -> Result<u64, Unread> {
        let (mut low, mut high) = self.range().await;
        let mut found = high;
        // What is below `low` is older; and `found` is the first record from `high` on.
        while low < high {
            let middle = low + (high - low) / 2;
            let mut cursor = Cursor { offset: middle, known: None };
            let read =
                self.read(&mut cursor, (1, 1), Vec::new(), |entry| (entry.offset, entry.timestamp));
            let first = match read.await {
                Ok(found) => found.first().copied(),
                // The records from there on are looked at, as those before are lost.
                Err(Unread::Lost(lost)) if lost.end < high => {
                    let mut cursor = Cursor { offset: lost.end, known: None };
                    let read =
                        self.read(&mut cursor, (1, 1), Vec::new(), |of| (of.offset, of.timestamp));
                    read.await?.first().copied()
                }
                Err(Unread::Lost(_)) => None,
                Err(Unread::OutOfRange(start, _)) if start > middle => {
                    low = start;
                    continue;
                }
                Err(error) => return Err(error),
            };
            match first.filter(|(offset, _)| *offset < high) {
                Some((offset, time)) if time < timestamp => low = offset + 1,
                Some((offset, _)) => (high, found) = (middle, offset),
                None => high = middle,
            }
        }
        Ok(found)
    }

    /// Goes on in the next segment, if that says that the records up to its first one are lost.
    async fn pass(
        &self,
        place: &Place,
        here: u64,
        (base, next): &(u64, Arc<Handle>),
    ) -> io::Result<Cursor> {
        let file = next.open().await?;
        let head = next.head(&file).await?;
        drop(file);
        if !self.keep.skips && head.is_none_or(|head| head.after > here) {
            let what = format!("the records from offset {here} up to {base} are missing");
            return Err(damaged(&place.file, place.end, &what));
        }
        self.note_lost(here..*base).await;
        Ok(Cursor { offset: *base, known: None })
    }

    /// Goes on behind a bad place, where the next record is.
    async fn skip(&self, place: &Place, here: u64, bad: u64) -> io::Result<Cursor> {
        let file = place.file.open().await?;
        let mut found = None;
        if let Some(head) = place.file.head(&file).await? {
            found = Window::new(&file, head.salt, place.end).find(bad).await?;
        }
        drop(file);
        let cursor = match (found, &place.next) {
            (Some((record, _, flags)), _) if flags & MARK == 0 => {
                Cursor { offset: here.max(record.next), known: Some((place.base, record.at)) }
            }
            (_, Some((base, _))) => Cursor { offset: *base, known: None },
            _ => Cursor { offset: self.end(), known: Some((place.base, place.end)) },
        };
        self.note_lost(here..cursor.offset).await;
        Ok(cursor)
    }
}

/// Reads frames at a place, tells those from the cursor's offset on, and moves the cursor behind them.
async fn read_place(
    place: &Place,
    cursor: &mut Cursor,
    (mut records, bytes): (usize, usize),
    mut tell: impl FnMut(Entry),
) -> io::Result<Stop> {
    let (mut at, mut taken) = (place.at, 0);
    let left = usize::try_from(place.end.saturating_sub(at)).unwrap_or(usize::MAX);
    if left == 0 {
        return Ok(Stop::End);
    }
    let wanted = match cursor.known {
        // What there is no room for would be read again.
        Some(_) => records.saturating_mul(place.mean).saturating_add(PAGE_BYTES),
        // The record may be as far behind as the index has gaps; a short read lets other partitions begin sooner.
        None => FIRST_BYTES,
    };
    let file = place.file.open().await?;
    let Some(SegmentHead { salt, .. }) = place.file.head(&file).await? else {
        return Ok(Stop::Bad(0));
    };
    let mut length = READ_BYTES.min(wanted).min(left);
    let mut buffer = place.file.buffer(length);
    file.read_exact_at(&mut buffer[..length], at).await?;
    let (mut rest, salted, mut heap) = (&buffer[..length], Salted::new(salt), Bodies::default());
    let stop = loop {
        if at == place.end {
            break Stop::End;
        }
        if records == 0 || taken >= bytes {
            break Stop::Enough;
        }
        match salted.read(rest, at) {
            Found::Payload(flags, _) if flags & MARK != 0 => break Stop::End,
            Found::Payload(_, payload) => {
                heap.most =
                    rest.len().min(bytes - taken).min(records.saturating_mul(payload.len()));
                let of = Entry::decode(payload, &mut heap).filter(|of| of.offset <= cursor.offset);
                let Some(entry) = of else { break Stop::Bad(at) };
                if entry.offset == cursor.offset {
                    taken += payload.len() + RECORD_BYTES + HEADER_BYTES * entry.headers.len();
                    (cursor.offset, records) = (cursor.offset + 1, records - 1);
                    tell(entry);
                }
                at += (HEAD + payload.len()) as u64;
                rest = &rest[HEAD + payload.len()..];
            }
            Found::Short(whole) if at == place.at && whole > length && whole <= left => {
                (length, buffer) = (whole, vec![0; whole]);
                file.read_exact_at(&mut buffer, at).await?;
                rest = &buffer[..];
            }
            Found::Short(_) if at > place.at => break Stop::Enough,
            _ => break Stop::Bad(at),
        }
    };
    cursor.known = Some((place.base, at));
    place.file.give_back(buffer);
    Ok(stop)
}

/// The error with the name of the file.
fn name(file: &Handle, error: io::Error) -> io::Error {
    let (text, path) = (error.to_string(), file.path().display().to_string());
    if text.contains(&path) {
        error
    } else {
        io::Error::new(error.kind(), format!("{path}: {text}"))
    }
}
