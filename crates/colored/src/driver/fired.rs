//! Counts of timers that have fired.

use std::sync::atomic::{AtomicU64, Ordering};

/// What one worker, or another thread for it, has counted.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Fired {
    fired: AtomicU64,
    turns: AtomicU64,
    /// Of these, what the worker has not accounted for yet.
    fresh: AtomicU64,
    nanos: AtomicU64,
}

impl Fired {
    /// Counts `fired` timers that one turn of the wheel has fired. `nanos` is the time that this took, if the worker itself
    /// did it.
    pub(super) fn add(&self, fired: u64, nanos: Option<u64>) {
        if fired == 0 {
            return;
        }
        // Ordering: figures.
        self.fired.fetch_add(fired, Ordering::Relaxed);
        self.turns.fetch_add(1, Ordering::Relaxed);
        if let Some(nanos) = nanos {
            self.fresh.fetch_add(fired, Ordering::Relaxed);
            self.nanos.fetch_add(nanos, Ordering::Relaxed);
        }
    }

    /// To be called by the worker: how many timers it has fired since the last call, and the nanoseconds that this took.
    pub(super) fn take(&self) -> Option<(u32, u64)> {
        // Ordering: the worker has added them.
        if self.fresh.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let fired = self.fresh.swap(0, Ordering::Relaxed);
        Some((u32::try_from(fired).unwrap_or(u32::MAX), self.nanos.swap(0, Ordering::Relaxed)))
    }

    /// All timers that have fired, and the turns in which they did.
    pub(super) fn sums(&self) -> (u64, u64) {
        // Ordering: figures.
        (self.fired.load(Ordering::Relaxed), self.turns.load(Ordering::Relaxed))
    }
}
