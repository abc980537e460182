//! [`Counter`]: a figure that others may read at any time.
//!
//! Its atomic is the standard library's under loom as well: a thread decides by no counter but its own.

use crate::sync::Ordering;
use std::sync::atomic::AtomicU64;

/// A sum that grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds, while no other thread does.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        // Ordering: a figure, not a signal. There is one writer, so no read-modify-write is needed.
        self.0.store(self.0.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    /// Begins again from 0, while no other thread adds.
    pub(crate) fn reset(&self) {
        // Ordering: as in `add`.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Adds, while other threads may do so too: none of them by [`add`](Self::add).
    pub(crate) fn add_shared(&self, n: u64) {
        // Ordering: a figure.
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // Ordering: a figure.
        self.0.load(Ordering::Relaxed)
    }
}
