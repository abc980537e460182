//! The policy of a simulation: each color belongs to one worker.

use super::{evidence, run};
use colored_core::{Destination, Policy, Runnable, Scheduler};

#[derive(Debug)]
pub(super) struct Places;

impl Policy for Places {
    fn destination(&self, lane: Runnable, _: &Scheduler) -> Destination {
        // Where a lane has run, its color belongs.
        if let (Some(_), Some(home)) = (lane.worker, lane.home) {
            return Destination::Worker(home);
        }
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
