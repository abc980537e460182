//! The owners of colors: one word for each color.
//!
//! A word holds the number of tasks and of events that wait or run, and the owner. The owner is valid as
//! long as the count is not zero.

use std::sync::atomic::{AtomicU64, Ordering};

const COLORS: usize = 1 << 16;
const OWNER: u64 = (1 << 32) - 1;
const ONE: u64 = 1 << 32;

pub(super) struct Owners(Box<[AtomicU64]>);

impl Owners {
    pub(super) fn new() -> Self {
        Self((0..COLORS).map(|_| AtomicU64::new(0)).collect())
    }

    fn word(&self, color: u16) -> &AtomicU64 {
        &self.0[usize::from(color)]
    }

    /// Counts one more, and returns the owner of the color; `first` chooses it if there is none.
    pub(super) fn add(&self, color: u16, first: impl Fn() -> usize) -> usize {
        let mut owner = 0;
        let change = |word| {
            let before = if word < ONE { first() as u64 } else { word & OWNER };
            owner = before as usize;
            Some((word & !OWNER | before) + ONE)
        };
        // Ordering: pairs with the one in `remove`: the acts of an earlier owner come before.
        let changed = self.word(color).fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
        debug_assert!(changed.is_ok());
        owner
    }

    /// Counts one less.
    pub(super) fn remove(&self, color: u16) {
        // Ordering: see `add`.
        self.word(color).fetch_sub(ONE, Ordering::AcqRel);
    }

    /// The owner of a color that has a task or an event.
    pub(super) fn of(&self, color: u16) -> usize {
        // Ordering: the word changes under the lock of the owner's queue, and the caller checks it again
        // there.
        (self.word(color).load(Ordering::Acquire) & OWNER) as usize
    }

    /// Makes a thief the owner of a color, under the lock of the old owner's queue.
    pub(super) fn change(&self, color: u16, owner: usize) {
        let change = |word| Some(word & !OWNER | owner as u64);
        // Ordering: see `of`.
        let changed = self.word(color).fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
        debug_assert!(changed.is_ok());
    }
}
