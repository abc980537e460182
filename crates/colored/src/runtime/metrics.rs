//! The counters of a runtime.

use crate::blocking::BlockingMetrics;
use crate::device::FileMetrics;
use crate::long_poll::LongPollMetrics;
use crate::pool::Class;
use crate::services::Services;
use colored_core::Scheduler;
pub use colored_core::WorkerMetrics;

/// A snapshot of a runtime's counters. While the runtime runs, the counters are not all of the same
/// instant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// By worker.
    pub workers: Vec<WorkerMetrics>,
    /// Colors whose lane is in the table: the colors in use, and the default color. A color of
    /// [`spawn_unique`](crate::spawn_unique) counts only after a task has waited under it, or code has
    /// asked for it.
    pub colors: usize,
    /// Workers that are idle at the moment.
    pub parked: usize,
    /// The threads of [`spawn_blocking`](crate::spawn_blocking). A
    /// [`BlockingClass`](crate::task::BlockingClass) has metrics of its own.
    pub blocking: BlockingMetrics,
    /// The threads that do the file operations which would wait.
    pub file_threads: BlockingMetrics,
    /// Polls that held their workers for long.
    pub long_polls: LongPollMetrics,
    /// How often another thread has woken a worker that slept.
    pub wakes: u64,
    /// Timers that are set.
    pub timers: u64,
    /// Timers that have fired.
    pub timers_fired: u64,
    /// File operations: one element for operations on paths, then one for each device that a file was on.
    pub files: Vec<FileMetrics>,
}

impl Metrics {
    pub(super) fn of(scheduler: &Scheduler, services: &Services) -> Self {
        let (timers, timers_fired, _) = services.driver.timers.counts();
        Self {
            workers: (0..scheduler.workers()).map(|i| scheduler.worker_metrics(i)).collect(),
            colors: scheduler.lanes(),
            parked: scheduler.parked(),
            blocking: services.pool.stats(Class::Work).into(),
            file_threads: services.pool.stats(Class::File).into(),
            long_polls: services.long_polls.metrics(),
            wakes: services.driver.parkers.wakes(),
            timers,
            timers_fired,
            files: services.devices.metrics(),
        }
    }
}
