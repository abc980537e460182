//! Reads records of a partition, in order.

use super::entry::Entry;
use super::frame::{self, Found, HEAD};
use super::partition::{Cursor, Partition, Place, Unread};
use super::segment;
use std::io;

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

impl Partition {
    /// What `make` makes of the records from `cursor` on, at most so many and so many bytes, and at least one if there is
    /// one. Moves the cursor behind them. Empty at the end of the log. Cancel safe: the cursor moves only when the call
    /// returns.
    pub(crate) async fn read<T>(
        &self,
        cursor: &mut Cursor,
        room: (usize, usize),
        make: impl Fn(Entry) -> T,
    ) -> Result<Vec<T>, Unread> {
        let mut here = *cursor;
        loop {
            let place = self.state.call(move |state| state.find(here)).await?;
            if place.at >= place.end {
                if place.is_last {
                    return Ok(Vec::new());
                }
                // The next segment begins at this offset.
                return Err(Unread::Failed(self.fault(&place, place.at, "lacks records")));
            }
            let mut found = Vec::new();
            here = self.read_place(&place, here, room, |entry| found.push(make(entry))).await?;
            if !found.is_empty() {
                *cursor = here;
                return Ok(found);
            }
            if here.known.is_none() {
                // The segment has ended, and the next one begins behind the wanted record.
                return Err(Unread::Failed(self.fault(&place, place.end, "lacks records")));
            }
        }
    }

    /// Reads frames at a place, and tells those from the cursor's offset on.
    async fn read_place(
        &self,
        place: &Place,
        cursor: Cursor,
        (mut records, bytes): (usize, usize),
        mut tell: impl FnMut(Entry),
    ) -> Result<Cursor, Unread> {
        let (mut here, mut at, mut taken) = (cursor.offset, place.at, 0);
        let left = usize::try_from(place.end - at).unwrap_or(usize::MAX);
        let wanted = match cursor.known {
            // What there is no room for would be read again.
            Some(_) => records.saturating_mul(place.mean).saturating_add(PAGE_BYTES),
            // The record may be as far behind the place as the index has gaps. A short read lets the other partitions of a
            // member begin sooner.
            None => FIRST_BYTES,
        };
        let mut chunk = vec![0; READ_BYTES.min(wanted).min(left)];
        place.file.read_exact_at(&mut chunk, at).await.map_err(Unread::Failed)?;
        let mut rest = &chunk[..];
        while records > 0 && taken < bytes {
            match frame::read(rest) {
                Found::Payload(payload) => {
                    let entry = Entry::decode(payload).filter(|entry| entry.offset <= here);
                    let Some(entry) = entry else {
                        return Err(Unread::Failed(self.fault(place, at, "has a forged frame")));
                    };
                    if entry.offset == here {
                        let size =
                            payload.len() + RECORD_BYTES + HEADER_BYTES * entry.headers.len();
                        (here, taken) = (here + 1, taken + size);
                        records -= 1;
                        tell(entry);
                    }
                    at += (HEAD + payload.len()) as u64;
                    rest = &rest[HEAD + payload.len()..];
                }
                Found::Short(length)
                    if at == place.at && length > chunk.len() && length <= left =>
                {
                    chunk = vec![0; length];
                    place.file.read_exact_at(&mut chunk, at).await.map_err(Unread::Failed)?;
                    rest = &chunk[..];
                }
                Found::Short(_) if at > place.at && at < place.end => break,
                _ if at == place.end => break,
                _ => return Err(Unread::Failed(self.fault(place, at, "has a bad frame"))),
            }
        }
        // A place behind the last frame is in the next segment if there is one.
        let known = (at < place.end || place.is_last).then_some((place.base, at));
        Ok(Cursor { offset: here, known })
    }

    fn fault(&self, place: &Place, at: u64, what: &str) -> io::Error {
        let path = segment::path(&self.directory, place.base);
        let text = format!("{} {what} at byte {at}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, text)
    }
}
