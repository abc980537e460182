//! The policy of a simulation: each color belongs to one worker.

use super::{evidence, run};
use colored_core::{Destination, Policy, Runnable, Scheduler};

#[derive(Debug)]
pub(super) struct Places;

impl Policy for Places {
    fn destination(&self, lane: Runnable, _: &Scheduler) -> Destination {
        // Not where the lane has run: a pinned task takes the lanes of other workers to its own.
        Destination::Worker(run::number_of(lane.color).unwrap_or_else(|| {
            // A thread that is no simulation's may still wake a task.
            evidence::note_wake();
            0
        }))
    }

    fn steals(&self) -> bool {
        false
    }
}
