//! The counters of a worker.

use crate::counter::Counter;
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
pub(super) struct Counters {
    pub(super) polls: Counter,
    pub(super) steals: Counter,
    pub(super) parks: Counter,
}
