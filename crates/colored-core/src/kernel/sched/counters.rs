//! The counters of a worker, and how many tasks there are: figures for others to read.
//!
//! The atomic of a [`Counter`] is the standard library's under loom as well: a thread decides by no counter but its own.

use crate::sync::{AtomicUsize, Ordering};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The counters of a worker since the runtime began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Polls of tasks and runs of callbacks.
    pub polls: u64,
    /// Turns of lanes.
    pub slices: u64,
    /// Times it took lanes from another worker.
    pub steals: u64,
    /// Times it went to sleep.
    pub parks: u64,
    /// Time in polls and callbacks, and between them.
    pub run: Duration,
    /// Time in which it looked for a color to run.
    pub search: Duration,
    /// Time in which it asked the system for events without sleep, and woke tasks for them.
    pub io: Duration,
    /// Time in which it woke tasks whose timers were due.
    pub timers: Duration,
    /// Time asleep.
    pub parked: Duration,
}

/// A worker's own counters: only the worker writes them, and any thread reads them.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) polls: Counter,
    pub(crate) steals: Counter,
    pub(crate) parks: Counter,
}

/// How many futures cannot leave a worker (`pinned.rs`). Only the worker's own thread changes it.
pub(crate) struct LocalTaskCount(AtomicUsize);

impl LocalTaskCount {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub(crate) fn add(&self) {
        // Ordering: there is one writer. The thread that stops the workers reads the count while all are
        // parked, under the lock under which workers park and wake.
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self) {
        // Ordering: as in `add`.
        self.0.store(self.0.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    pub(crate) fn is_empty(&self) -> bool {
        // Ordering: as in `add`.
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// How many tasks a thread, or several, have spawned, and run to the end.
#[derive(Default)]
pub(crate) struct TaskCounts {
    pub(crate) spawned: Counter,
    pub(crate) completed: Counter,
}

impl TaskCounts {
    /// Counts a task that the worker is about to spawn. Only for the worker's own counts.
    #[inline]
    pub(crate) fn add_spawned(&self) {
        self.spawned.add(1);
    }

    /// As `add_spawned`, by any other thread, for the counts that these threads share.
    pub(crate) fn add_spawned_outside(&self) {
        self.spawned.add_shared(1);
    }

    /// Counts tasks that the worker has run to the end. Only for the worker's own counts.
    #[inline]
    pub(crate) fn add_completed(&self, tasks: u32) {
        if tasks > 0 {
            self.completed.add(tasks.into());
        }
    }

    /// As `add_completed`, by any other thread.
    pub(crate) fn add_completed_outside(&self, tasks: u32) {
        if tasks > 0 {
            self.completed.add_shared(tasks.into());
        }
    }
}

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
