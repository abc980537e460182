//! Reads a file of frames from a place on: how far it is whole, and what can be read behind a place where it is not.
//!
//! A row is written only when everything before it is confirmed, and the flag of its first frame says so. So what follows
//! the first bad place tells what it is: with the begin of a row, or a mark, behind it, confirmed records are damaged;
//! without, it is the end of a write that was never confirmed, whatever its pages have reached of the device.

use super::body::Bodies;
use super::entry::Entry;
use super::frame::{self, END, Found, HEAD, MARK, ROW, SYNCED, Spot};
use super::head::SEGMENT_HEAD;
use colored::fs::File;
use std::io;

/// How many bytes are read at a time.
const SCAN_BYTES: usize = 1 << 20;

/// What a file system writes to the device is a multiple of so many bytes, at such a place.
const BLOCK: u64 = 512;

/// The fewest bytes of a record.
pub(crate) const LEAST_BYTES: u64 = (HEAD + 26) as u64;

/// The bytes of a file, a window at a time.
pub(crate) struct Window<'a> {
    file: &'a File,
    pub(crate) salt: u64,
    pub(crate) size: u64,
    start: u64,
    bytes: Vec<u8>,
}

/// A place between two frames, with the offset of the record behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: u64,
    pub(crate) next: u64,
}

/// How far a file is whole.
#[derive(Debug)]
pub(crate) struct Whole {
    /// Behind the last record.
    pub(crate) end: Place,
    /// Behind the last mark, if that is the last frame.
    pub(crate) size: u64,
    /// The first place that is not on the device for sure.
    pub(crate) in_doubt: Place,
    /// Whether a mark says that the segment is complete.
    pub(crate) is_ended: bool,
    /// What follows is no frame, or one that must not stand there.
    pub(crate) bad: Option<Bad>,
}

/// A place where no frame is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bad {
    pub(crate) at: u64,
    /// Whether the file ends within the frame.
    pub(crate) is_short: bool,
}

/// What can be read behind a bad place.
#[derive(Debug, Default)]
pub(crate) struct Behind {
    pub(crate) records: u64,
    /// The first of them: its place and its offset.
    pub(crate) first: Option<Place>,
    /// The offset after the last record that is known.
    pub(crate) next: u64,
    /// Behind the last frame.
    pub(crate) end: u64,
    /// Whether something says that all before it was confirmed.
    pub(crate) is_confirmed: bool,
}

impl<'a> Window<'a> {
    pub(crate) fn new(file: &'a File, salt: u64, size: u64) -> Window<'a> {
        Window { file, salt, size, start: 0, bytes: Vec::new() }
    }

    /// So many bytes at a place, or as many as there are.
    async fn get(&mut self, at: u64, length: usize) -> io::Result<&[u8]> {
        let left = usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX);
        let length = length.min(left);
        let inside = |window: &Self| {
            let from = usize::try_from(at.checked_sub(window.start)?).ok()?;
            let to = from.checked_add(length)?;
            (to <= window.bytes.len()).then_some(from..to)
        };
        if inside(self).is_none() {
            self.bytes.resize(length.max(SCAN_BYTES).min(left), 0);
            self.start = at;
            self.file.read_exact_at(&mut self.bytes, at).await?;
        }
        let range = inside(self).expect("it was read");
        Ok(&self.bytes[range])
    }

    /// What stands at a place.
    pub(crate) async fn frame(&mut self, at: u64) -> io::Result<Found<'_>> {
        let spot = Spot { salt: self.salt, at };
        let head = self.get(at, HEAD).await?;
        let length = match frame::read(head, spot) {
            Found::Short(length) if head.len() == HEAD => length,
            Found::Short(length) => return Ok(Found::Short(length)),
            _ => return Ok(Found::Bad),
        };
        Ok(frame::read(self.get(at, length).await?, spot))
    }

    /// Finds how far the records go from a place on, and tells each.
    pub(crate) async fn whole(
        &mut self,
        from: Place,
        mut tell: impl FnMut(Place, &Entry),
    ) -> io::Result<Whole> {
        let (mut here, mut in_doubt, file_size) = (from, from, self.size);
        let mut bodies = Bodies::default();
        loop {
            let at = here.at;
            let ends =
                |in_doubt, size, is_ended, bad| Whole { end: here, size, in_doubt, is_ended, bad };
            if at >= file_size {
                return Ok(ends(in_doubt, at, false, None));
            }
            let bad = |at, is_short| Some(Bad { at, is_short });
            match self.frame(at).await? {
                Found::Payload(flags, payload) if flags & MARK != 0 => {
                    let behind = at + (HEAD + payload.len()) as u64;
                    if flags & SYNCED != 0 {
                        in_doubt = here;
                    }
                    let rest = if behind < file_size { bad(behind, false) } else { None };
                    return Ok(ends(in_doubt, behind, flags & END != 0, rest));
                }
                Found::Payload(flags, payload) => {
                    let entry = Entry::decode(payload, &mut bodies)
                        .filter(|entry| entry.offset == here.next);
                    let Some(entry) = entry else {
                        return Ok(ends(in_doubt, at, false, bad(at, false)));
                    };
                    if flags & SYNCED != 0 {
                        in_doubt = here;
                    }
                    tell(here, &entry);
                    here = Place { at: at + (HEAD + payload.len()) as u64, next: here.next + 1 };
                }
                Found::Short(_) => return Ok(ends(in_doubt, at, false, bad(at, true))),
                Found::Torn(_) | Found::Bad => {
                    return Ok(ends(in_doubt, at, false, bad(at, false)));
                }
            }
        }
    }

    /// The next place from `at` on where a frame is, and behind it the next place where one may be. `None` at the end.
    pub(crate) async fn find(&mut self, mut at: u64) -> io::Result<Option<(Place, u64, u32)>> {
        while at < self.size {
            match self.frame(at).await? {
                Found::Payload(flags, payload) => {
                    let behind = at + (HEAD + payload.len()) as u64;
                    let next = if flags & MARK == 0 {
                        Entry::decode(payload, &mut Bodies::default()).map(|entry| entry.offset)
                    } else {
                        payload.first_chunk().map(|next| u64::from_le_bytes(*next))
                    };
                    let Some(next) = next else {
                        at = behind;
                        continue;
                    };
                    return Ok(Some((Place { at, next }, behind, flags)));
                }
                // The length is true.
                Found::Torn(length) => at += length as u64,
                Found::Short(_) | Found::Bad => at += 1,
            }
        }
        Ok(None)
    }

    /// Looks for what can be read behind a bad place.
    pub(crate) async fn behind(&mut self, bad: u64) -> io::Result<Behind> {
        let mut behind = Behind { end: bad, ..Behind::default() };
        let mut at = match self.frame(bad).await? {
            Found::Torn(length) => bad + length as u64,
            _ => bad + 1,
        };
        while let Some((place, end, flags)) = self.find(at).await? {
            let is_record = flags & MARK == 0;
            if is_record {
                behind.records += 1;
                behind.first.get_or_insert(place);
            }
            behind.is_confirmed |= flags & ROW != 0;
            behind.next = behind.next.max(place.next + u64::from(is_record));
            (at, behind.end) = (end, end);
        }
        Ok(behind)
    }

    /// Whether the rest of the file was never written, though the file has its length: it is zeros, from a place on or from the begin
    /// of a block within the frame that stands there.
    pub(crate) async fn is_unwritten(&mut self, from: u64) -> io::Result<bool> {
        let behind = match self.frame(from).await? {
            Found::Torn(length) => from + length as u64,
            _ => from + HEAD as u64,
        };
        let (mut zeros, mut at) = (from, from);
        while at < self.size {
            let bytes = self.get(at, SCAN_BYTES).await?;
            if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
                zeros = at + last as u64 + 1;
            }
            at += bytes.len() as u64;
        }
        Ok(zeros == from || zeros.next_multiple_of(BLOCK) < behind.min(self.size))
    }

    /// Writes a part of the file again as it is.
    pub(crate) async fn write_again(&mut self, mut from: u64, to: u64) -> io::Result<()> {
        while from < to {
            let length = usize::try_from(to - from).unwrap_or(usize::MAX).min(SCAN_BYTES);
            let file = self.file;
            let bytes = self.get(from, length).await?;
            file.write_all_at(bytes, from).await?;
            from += length as u64;
        }
        Ok(())
    }
}

/// The place of the first record of a segment.
pub(crate) fn first_place(base: u64) -> Place {
    Place { at: SEGMENT_HEAD, next: base }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use colored::fs::OpenOptions;

    /// A multiple of 4 GiB that is left is not nothing, on 32 bits too. The file is a hole.
    #[colored::test]
    async fn a_window_of_a_file_of_more_than_4_gib() {
        const SIZE: u64 = (4 << 30) + 16;
        let scratch = Scratch::new();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let file = options.open(scratch.path().join("file")).await.unwrap();
        file.set_len(SIZE).await.unwrap();
        file.write_all_at(b"the last bytes", SIZE - 14).await.unwrap();
        let mut window = Window::new(&file, 0, SIZE);
        assert_eq!(window.get(16, 8).await.unwrap(), [0; 8]);
        assert_eq!(window.get(SIZE - 14, 20).await.unwrap(), b"the last bytes");
    }
}
