//! [`Ring`]: the last records of one thread.

pub(crate) mod buffer;

use super::code::{self, Words};
use super::event::Record;
use buffer::Buffer;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

/// The last records of one thread, for any thread to copy.
///
/// One thread at a time may push. Two that push at once lose and mix records, and do no other harm.
///
/// The memory is allocated by the first push, or by [`Ring::allocate`]: a ring that nobody has used has none.
pub struct Ring {
    entries: usize,
    buffer: OnceLock<Buffer<AtomicU64>>,
}

/// The records of a ring at some moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// The records, in the order in which they were pushed.
    pub records: Vec<Record>,
    /// How many older records newer ones have overwritten, since the ring was made.
    pub overwritten: u64,
    /// How many records were never pushed, because the ring was in use ([`SharedRing`](super::SharedRing)).
    pub dropped: u64,
}

impl Ring {
    /// A ring of at most so many bytes, and at least 64. A record is 32 bytes; the number of records is a power of two, of
    /// which a copy returns all but one.
    #[must_use]
    pub const fn new(bytes: usize) -> Self {
        let entries = bytes / size_of::<Words>();
        let entries = if entries < 2 { 2 } else { 1 << entries.ilog2() };
        Self { entries, buffer: OnceLock::new() }
    }

    /// Allocates the memory, unless it is allocated. Costs some 100 µs for a ring of 1 MiB, which would otherwise be a
    /// part of the first push.
    pub fn allocate(&self) {
        self.buffer.get_or_init(|| Buffer::new(self.entries));
    }

    /// Adds a record, in place of the oldest one if the ring is full.
    ///
    /// Costs a few stores: no lock, no exchange, and no allocation after the first push.
    #[inline]
    pub fn push(&self, record: Record) {
        self.buffer.get_or_init(|| Buffer::new(self.entries)).push(code::encode(record));
    }

    /// The records that are in the ring now. The owner may push meanwhile: what it overwrites is left out.
    #[must_use]
    pub fn copy(&self) -> Copied {
        let Some(buffer) = self.buffer.get() else { return Copied::default() };
        let (overwritten, words) = buffer.copy();
        let records = words.into_iter().filter_map(code::decode).collect();
        Copied { records, overwritten, dropped: 0 }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("entries", &self.entries).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests;
