//! [`Buffer`]: a ring of entries that one thread writes, while others copy it.
//!
//! The head counts the entries that were ever written. The writer stores the words of an entry, then the head. A reader
//! copies the entries, then looks at the head again, as in a seqlock: an entry whose place the writer may have begun to
//! overwrite is dropped. The writer may be inside one entry beyond the head, so the oldest place is never trusted.
//!
//! All words are atomics, so a torn entry is a value that nobody uses, not undefined behavior.

use crate::ext::trace::code::Words;
use std::sync::atomic::{self, AtomicU64, Ordering};

/// An atomic word: the standard library's, or the one of a model.
pub(crate) trait Word {
    /// A word that is 0.
    fn zero() -> Self;
    /// Its value.
    fn load(&self, ordering: Ordering) -> u64;
    /// Replaces its value.
    fn store(&self, value: u64, ordering: Ordering);
    /// A fence that orders words of this type.
    fn fence(ordering: Ordering);
}

impl Word for AtomicU64 {
    fn zero() -> Self {
        Self::new(0)
    }

    #[inline]
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    #[inline]
    fn store(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    #[inline]
    fn fence(ordering: Ordering) {
        atomic::fence(ordering);
    }
}

/// Entries that one thread writes.
pub(crate) struct Buffer<W> {
    /// How many entries were written so far.
    head: W,
    /// A power of two of them. An entry lies within one cache line.
    entries: Box<[Entry<W>]>,
}

#[repr(align(32))]
struct Entry<W>([W; 4]);

impl<W: Word> Buffer<W> {
    /// A buffer of so many entries: a power of two.
    pub(crate) fn new(entries: usize) -> Self {
        debug_assert!(entries.is_power_of_two(), "{entries} entries, not a power of two");
        let entries = (0..entries).map(|_| Entry([(); 4].map(|()| W::zero()))).collect();
        Self { head: W::zero(), entries }
    }

    fn entry(&self, serial: u64) -> &[W; 4] {
        &self.entries[serial as usize & (self.entries.len() - 1)].0
    }

    /// Adds an entry.
    #[inline]
    pub(crate) fn push(&self, words: Words) {
        // Ordering: only this thread stores the head.
        let head = self.head.load(Ordering::Relaxed);
        // Ordering: pairs with the fence in `copy`. A reader that sees a word of the new entry then sees this head too,
        // and so knows that the place is being overwritten.
        W::fence(Ordering::Release);
        for (word, value) in self.entry(head).iter().zip(words) {
            // Ordering: the head releases the words.
            word.store(value, Ordering::Relaxed);
        }
        // Ordering: Release hands the words over to the first look at the head in `copy`.
        self.head.store(head + 1, Ordering::Release);
    }

    /// The number of entries that are lost, and those after them.
    pub(crate) fn copy(&self) -> (u64, Vec<Words>) {
        self.copy_with(|| {
            // Ordering: pairs with the fence in `push`, see there.
            W::fence(Ordering::Acquire);
            self.head.load(Ordering::Relaxed)
        })
    }

    /// As [`Buffer::copy`], with a second look at the head that a model may replace.
    pub(crate) fn copy_with(&self, second_look: impl FnOnce() -> u64) -> (u64, Vec<Words>) {
        // Ordering: Acquire pairs with the store of the head in `push`.
        let head = self.head.load(Ordering::Acquire);
        let first = self.first_after(head);
        // Ordering: the second look at the head orders these loads.
        let load = |word: &W| word.load(Ordering::Relaxed);
        let mut copied: Vec<_> =
            (first..head).map(|serial| self.entry(serial).each_ref().map(load)).collect();
        let valid = self.first_after(second_look()).min(head);
        copied.drain(..(valid - first) as usize);
        (valid, copied)
    }

    /// The head, for a model.
    #[cfg(all(test, colored_loom))]
    pub(crate) fn head(&self) -> &W {
        &self.head
    }

    /// The oldest entry that is whole while the head is `head`: the writer may be inside the place of the one before it.
    fn first_after(&self, head: u64) -> u64 {
        (head + 1).saturating_sub(self.entries.len() as u64)
    }
}
