//! What a worker's time was spent on, and how many tasks there are: figures for others to read.
//!
//! These atomics are the standard library's under loom as well: no decision of the scheduler depends on them.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// What a worker does. The times of all phases add up to the time since its first step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// It runs polls and callbacks.
    #[default]
    Run,
    /// It looks for a color to run.
    Search,
    /// It asks the system for events, without sleep, and wakes tasks for them.
    Io,
    /// It wakes tasks whose timers are due.
    Timers,
    /// It is asleep.
    Parked,
}

impl Phase {
    const ALL: [Self; 5] = [Self::Run, Self::Search, Self::Io, Self::Timers, Self::Parked];
}

/// The time of each phase so far.
#[derive(Default)]
pub(super) struct Times {
    sums: [AtomicU64; 5],
    phase: AtomicU8,
    /// When the present phase began; 0 before the first.
    since: AtomicU64,
}

impl Times {
    /// Begins a phase; returns the one before, and its time, unless this is the first.
    pub(super) fn begin(&self, phase: Phase, now: u64) -> Option<(Phase, u64)> {
        // Ordering: figures. There is one writer.
        let before = Phase::ALL[usize::from(self.phase.load(Ordering::Relaxed))];
        let since = self.since.load(Ordering::Relaxed);
        let time = now.saturating_sub(since);
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.since.store(now, Ordering::Relaxed);
        (since != 0).then(|| {
            add(&self.sums[before as usize], time);
            (before, time)
        })
    }

    /// So much of the present phase belongs to another one.
    pub(super) fn spent(&self, phase: Phase, nanos: u64) {
        add(&self.sums[phase as usize], nanos);
        // Ordering: as in `begin`.
        self.since.store(self.since.load(Ordering::Relaxed) + nanos, Ordering::Relaxed);
    }

    /// The time of each phase, with what the present one has taken so far.
    pub(super) fn until(&self, now: u64) -> [Duration; 5] {
        // Ordering: figures, of one moment or of two that follow each other.
        let since = self.since.load(Ordering::Relaxed);
        let present = usize::from(self.phase.load(Ordering::Relaxed));
        let mut sums = self.sums.each_ref().map(|sum| sum.load(Ordering::Relaxed));
        if since != 0 && since == self.since.load(Ordering::Relaxed) {
            sums[present] += now.saturating_sub(since);
        }
        sums.map(Duration::from_nanos)
    }
}

/// How many tasks a thread, or several, have spawned, and run to the end.
#[derive(Default)]
pub(super) struct TaskCounts {
    spawned: AtomicU64,
    completed: AtomicU64,
}

impl TaskCounts {
    /// One more, by the one writer.
    #[inline]
    pub(super) fn has_spawned(&self) {
        add(&self.spawned, 1);
    }

    /// So many more, by the one writer.
    #[inline]
    pub(super) fn have_completed(&self, tasks: u32) {
        if tasks > 0 {
            add(&self.completed, u64::from(tasks));
        }
    }

    /// As `has_spawned`, by one of several writers.
    pub(super) fn someone_has_spawned(&self) {
        // Ordering: a figure.
        self.spawned.fetch_add(1, Ordering::Relaxed);
    }

    /// As `have_completed`, by one of several writers.
    pub(super) fn someone_has_completed(&self, tasks: u32) {
        if tasks > 0 {
            // Ordering: a figure.
            self.completed.fetch_add(u64::from(tasks), Ordering::Relaxed);
        }
    }

    pub(super) fn spawned(&self) -> u64 {
        // Ordering: a figure.
        self.spawned.load(Ordering::Relaxed)
    }

    pub(super) fn completed(&self) -> u64 {
        // Ordering: a figure.
        self.completed.load(Ordering::Relaxed)
    }
}

/// Adds to a counter that this thread alone writes.
#[inline]
fn add(counter: &AtomicU64, n: u64) {
    // Ordering: a figure.
    counter.store(counter.load(Ordering::Relaxed) + n, Ordering::Relaxed);
}
