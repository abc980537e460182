//! How many workers a runtime has, and how many it may have.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The numbers of workers.
///
/// A worker has a wheel, and perhaps a shard, of its own, and stays. Workers above [`workers`](Self::workers) are spare
/// workers of the scheduler, which join and leave.
#[derive(Debug)]
pub(crate) struct Size {
    workers: usize,
    max: usize,
    spares: usize,
    wanted: AtomicUsize,
    /// How many of these have no thread, because the system gives none.
    missing: AtomicUsize,
}

impl Size {
    /// `workers` workers, of which there may be up to `max` later, and `spares` spare ones for long polls.
    pub(crate) fn new(workers: usize, max: usize, spares: usize) -> Self {
        Self {
            workers,
            max,
            spares,
            wanted: AtomicUsize::new(workers),
            missing: AtomicUsize::new(0),
        }
    }

    /// The workers that stay.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// The most workers that the program may want.
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// The spare workers for long polls.
    pub(crate) fn spares(&self) -> usize {
        self.spares
    }

    /// All spare workers of the scheduler.
    pub(crate) fn seats(&self) -> usize {
        self.spares + (self.max - self.workers)
    }

    /// The workers that the program wants.
    pub(crate) fn wanted(&self) -> usize {
        // Ordering: a number, which the reactor thread acts on when it looks.
        self.wanted.load(Ordering::Relaxed)
    }

    /// The workers that there are, or will be as soon as the reactor thread looks.
    pub(crate) fn present(&self) -> usize {
        // Ordering: a number, as `wanted`.
        let missing = self.missing.load(Ordering::Relaxed);
        self.wanted().saturating_sub(missing).max(self.workers)
    }

    /// Notes how many of the wanted workers have no thread.
    pub(crate) fn note_missing(&self, workers: usize) {
        // Ordering: see `present`.
        self.missing.store(workers, Ordering::Relaxed);
    }

    /// The wanted workers above those that stay.
    pub(crate) fn more(&self) -> usize {
        self.wanted() - self.workers
    }

    /// From now on the program wants so many: from those that stay to the most.
    pub(crate) fn want(&self, workers: usize) {
        debug_assert!((self.workers..=self.max).contains(&workers));
        // Ordering: see `wanted`.
        self.wanted.store(workers, Ordering::Relaxed);
    }
}
