//! The counters of a stage.

use super::partition::Counts;
use std::time::Duration;

/// A snapshot of the counters and the state of a stage; from [`Stage::metrics`](super::Stage::metrics).
/// The figures are sums over its partitions, which are read one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Events that the stage has accepted.
    pub accepted: u64,
    /// Events of batches that are done.
    pub handled: u64,
    /// Events of batches whose handler panicked, or that were left when the runtime shut down.
    pub lost: u64,
    /// Events that were given back because the stage was closed: sends that failed with
    /// [`Closed`](super::Closed), or with [`TrySendError::Closed`](super::TrySendError::Closed).
    pub refused: u64,
    /// Batches taken.
    pub batches: u64,
    /// Events in these batches.
    pub taken: u64,
    /// Panics of the handler.
    pub panics: u64,
    /// Senders that wait for room.
    pub senders: usize,
    /// The present limit of a batch: the largest of all partitions.
    pub batch_limit: usize,
    /// How long an event waited until its batch was taken. One event in 16 is timed; this is the last
    /// time of the partition in which it is longest.
    pub delay: Duration,
}

impl Metrics {
    pub(super) fn of(partitions: impl Iterator<Item = Counts>) -> Self {
        partitions.fold(Self::default(), |sum, counts| Self {
            accepted: sum.accepted + counts.accepted,
            handled: sum.handled + counts.handled,
            lost: sum.lost + counts.lost,
            refused: sum.refused + counts.refused,
            batches: sum.batches + counts.batches,
            taken: sum.taken + counts.taken,
            panics: sum.panics + counts.panics,
            senders: sum.senders + counts.waiting,
            batch_limit: sum.batch_limit.max(counts.limit),
            delay: sum.delay.max(Duration::from_nanos(counts.delay)),
        })
    }

    /// Events that are queued, or in a batch that is being handled.
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.accepted - self.handled - self.lost
    }

    /// The mean number of events in a batch; 0 before the first batch. Events that are left when the
    /// runtime shuts down are in no batch.
    #[must_use]
    pub fn mean_batch(&self) -> f64 {
        if self.batches == 0 { 0.0 } else { self.taken as f64 / self.batches as f64 }
    }
}
