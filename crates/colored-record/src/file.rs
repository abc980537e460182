//! [`File`]: a whole record.
//!
//! ```text
//! head    "colored record", a zero byte, the version
//! block   1, the kind and the number of a color, a length, the bytes of events; a checksum of these
//! end     0, the number of blocks; a checksum of these
//! ```
//!
//! The blocks of one color follow each other in the order of its events, with blocks of other colors in between.

use crate::bytes::{Sum, number, put_number};
use crate::damage::Damage;
use crate::event::{Source, SourceKind};
use crate::reader::Reader;
use std::collections::HashMap;

const MAGIC: &[u8; 15] = b"colored record\0";
const VERSION: u8 = 2;
const BLOCK: u8 = 1;
const END: u8 = 0;

/// The first bytes of a record.
#[must_use]
pub fn head() -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.push(VERSION);
    bytes
}

/// Adds a block with events of a color.
pub fn put_block(bytes: &mut Vec<u8>, color: Source, events: &[u8]) {
    let start = bytes.len();
    bytes.push(BLOCK);
    bytes.push(color.kind as u8);
    put_number(bytes, color.number);
    put_number(bytes, events.len() as u64);
    bytes.extend(events);
    put_sum(bytes, start);
}

/// The last bytes of a record with so many blocks.
#[must_use]
pub fn end(blocks: u64) -> Vec<u8> {
    let mut bytes = vec![END];
    put_number(&mut bytes, blocks);
    put_sum(&mut bytes, 0);
    bytes
}

fn put_sum(bytes: &mut Vec<u8>, start: usize) {
    let sum = Sum::of(&bytes[start..]).get();
    bytes.extend(sum.to_le_bytes());
}

/// The events of all colors.
#[derive(Debug, Default)]
pub struct File {
    colors: HashMap<Source, Vec<u8>>,
}

impl File {
    /// Reads a whole record, and each event of it.
    ///
    /// # Errors
    ///
    /// If it is no record, or one of another version, or is damaged.
    pub fn parse(bytes: &[u8]) -> Result<Self, Damage> {
        let (magic, rest) =
            bytes.split_at_checked(MAGIC.len()).ok_or_else(|| short(bytes, MAGIC))?;
        if magic != MAGIC {
            return Err(Damage::Foreign);
        }
        let (version, rest) = rest.split_first().ok_or(Damage::Truncated)?;
        if *version != VERSION {
            return Err(Damage::Version { found: *version, known: VERSION });
        }
        let mut this = Self::default();
        this.read_blocks(rest)?;
        this.check_events()?;
        Ok(this)
    }

    fn read_blocks(&mut self, mut rest: &[u8]) -> Result<(), Damage> {
        let mut blocks = 0;
        loop {
            let mut part = Part { all: rest, at: 0 };
            if part.byte()? == END {
                let count = part.number()?;
                part.check()?;
                let is_all = count == blocks && part.at == rest.len();
                return if is_all { Ok(()) } else { Err(Damage::Corrupt) };
            }
            let kind = SourceKind::from_byte(part.byte()?).ok_or(Damage::Corrupt)?;
            let color = Source { kind, number: part.number()? };
            let length = usize::try_from(part.number()?).map_err(|_| Damage::Corrupt)?;
            let events = part.bytes(length)?;
            part.check()?;
            if rest[0] != BLOCK {
                return Err(Damage::Corrupt);
            }
            self.colors.entry(color).or_default().extend(events);
            rest = &rest[part.at..];
            blocks += 1;
        }
    }

    fn check_events(&self) -> Result<(), Damage> {
        for bytes in self.colors.values() {
            let mut reader = Reader::new(bytes.clone());
            while reader.take()?.is_some() {}
        }
        Ok(())
    }

    /// Takes the events of a color; a color without any has an empty reader.
    #[must_use]
    pub fn take(&mut self, color: Source) -> Reader {
        Reader::new(self.colors.remove(&color).unwrap_or_default())
    }

    /// The colors whose events have not been taken.
    pub fn colors(&self) -> impl Iterator<Item = Source> + '_ {
        self.colors.keys().copied()
    }
}

/// The error of a file that is too short to be told from others.
fn short(bytes: &[u8], magic: &[u8]) -> Damage {
    if !bytes.is_empty() && magic.starts_with(bytes) { Damage::Truncated } else { Damage::Foreign }
}

/// A part of a record that has a checksum.
struct Part<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Part<'a> {
    fn byte(&mut self) -> Result<u8, Damage> {
        Ok(self.bytes(1)?[0])
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let end = self.at.checked_add(length).ok_or(Damage::Corrupt)?;
        let bytes = self.all.get(self.at..end).ok_or(Damage::Truncated)?;
        self.at = end;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u64, Damage> {
        let rest = &self.all[self.at..];
        let missing = if rest.len() < 10 { Damage::Truncated } else { Damage::Corrupt };
        let (number, taken) = number(rest).ok_or(missing)?;
        self.at += taken;
        Ok(number)
    }

    /// Checks all that has been read so far.
    fn check(&mut self) -> Result<(), Damage> {
        let sum = Sum::of(&self.all[..self.at]).get().to_le_bytes();
        if self.bytes(4)? == sum { Ok(()) } else { Err(Damage::Corrupt) }
    }
}
