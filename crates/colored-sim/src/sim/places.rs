//! The policy of a simulation: each color belongs to one worker.

use super::{evidence, run};
use colored_core::{Destination, Policy, Runnable, Scheduler};

#[derive(Debug)]
pub(super) struct Places;

impl Policy for Places {
    fn destination(&self, lane: Runnable, scheduler: &Scheduler) -> Destination {
        let number = run::number_of(lane.color).unwrap_or_else(|| {
            // A thread that is no simulation's may still wake a task.
            evidence::note_wake();
            0
        });
        Destination::Worker(number % scheduler.workers())
    }

    fn steals(&self) -> bool {
        false
    }
}
