//! Which worker owns which color: one word for each color, as in libasync-smp.
//!
//! A word is a count of the tasks, and of the events that wait or run, and the owner, which means something
//! as long as the count is not zero.

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

    /// Counts one more, and says who owns the color; `first` says it if nobody does.
    pub(super) fn add(&self, color: u16, first: impl Fn() -> usize) -> usize {
        let mut owner = 0;
        let change = |word| {
            let before = if word < ONE { first() as u64 } else { word & OWNER };
            owner = before as usize;
            Some((word & !OWNER | before) + ONE)
        };
        // Ordering: pairs with that in `remove`: what an earlier owner did comes before.
        let changed = self.word(color).fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
        debug_assert!(changed.is_ok());
        owner
    }

    /// One has gone.
    pub(super) fn remove(&self, color: u16) {
        // Ordering: see `add`.
        self.word(color).fetch_sub(ONE, Ordering::AcqRel);
    }

    /// Who owns a color that has a task or an event.
    pub(super) fn of(&self, color: u16) -> usize {
        // Ordering: changed under the lock of the owner's queue, and asked for again there.
        (self.word(color).load(Ordering::Acquire) & OWNER) as usize
    }

    /// A thief has taken it. Under the lock of the old owner's queue.
    pub(super) fn change(&self, color: u16, owner: usize) {
        let change = |word| Some(word & !OWNER | owner as u64);
        // Ordering: see `of`.
        let changed = self.word(color).fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
        debug_assert!(changed.is_ok());
    }
}
