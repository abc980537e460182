//! What a worker's time was spent on: figures for others to read.
//!
//! These atomics are the standard library's under loom as well: no decision of the scheduler depends on them.

use crate::kernel::sched::metrics::Counter;
use crate::sync::Ordering;
use std::sync::atomic::{AtomicU8, AtomicU64};
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
pub(crate) struct Times {
    sums: [Counter; 5],
    phase: AtomicU8,
    /// When the present phase began; 0 before the first.
    since: AtomicU64,
}

impl Times {
    /// Begins a phase; returns the one before, and its time, unless this is the first.
    pub(crate) fn begin(&self, phase: Phase, now: u64) -> Option<(Phase, u64)> {
        // Ordering: figures. There is one writer.
        let before = Phase::ALL[usize::from(self.phase.load(Ordering::Relaxed))];
        let since = self.since.load(Ordering::Relaxed);
        let time = now.saturating_sub(since);
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.since.store(now, Ordering::Relaxed);
        (since != 0).then(|| {
            self.sums[before as usize].add(time);
            (before, time)
        })
    }

    /// Moves this time from the present phase to another one.
    pub(crate) fn spent(&self, phase: Phase, nanos: u64) {
        self.sums[phase as usize].add(nanos);
        // Ordering: as in `begin`.
        self.since.store(self.since.load(Ordering::Relaxed) + nanos, Ordering::Relaxed);
    }

    /// The time of each phase, with what the present one has taken so far.
    pub(crate) fn until(&self, now: u64) -> [Duration; 5] {
        // Ordering: figures, of one moment or of two that follow each other.
        let since = self.since.load(Ordering::Relaxed);
        let present = usize::from(self.phase.load(Ordering::Relaxed));
        let mut sums = self.sums.each_ref().map(Counter::get);
        if since != 0 && since == self.since.load(Ordering::Relaxed) {
            sums[present] += now.saturating_sub(since);
        }
        sums.map(Duration::from_nanos)
    }
}
