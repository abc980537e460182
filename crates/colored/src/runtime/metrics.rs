//! What a runtime has done, in numbers.

use colored_core::Scheduler;
pub use colored_core::WorkerMetrics;

/// A snapshot of a runtime's counters. Taken while the runtime runs, it is not of one instant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// By worker.
    pub workers: Vec<WorkerMetrics>,
    /// Colors with a lane that can be found by name: those in use, and the default one. Lanes of
    /// [`spawn_unique`](crate::spawn_unique) are not counted unless somebody asked for their color.
    pub colors: usize,
    /// Workers that have nothing to do right now.
    pub parked: usize,
}

impl Metrics {
    pub(super) fn of(scheduler: &Scheduler) -> Self {
        Self {
            workers: (0..scheduler.workers()).map(|i| scheduler.worker_metrics(i)).collect(),
            colors: scheduler.lanes(),
            parked: scheduler.parked(),
        }
    }
}
