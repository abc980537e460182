//! The laboratory's options, and the promises of each, from which the oracle's rules follow.

use crate::chance::Chance;
use colored_core::Color;
use colored_core::lab::{Balance, Options, Placement, Queue};

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) options: Options,
    pub(crate) workers: u32,
}

impl Policy {
    pub(crate) fn plain() -> Self {
        Self { options: Options::default(), workers: 1 }
    }

    /// The plain scheduler half of the time, else any options that go together.
    pub(crate) fn draw(chance: &Chance, workers: u32) -> Self {
        if chance.one_in(2) {
            return Self { workers, ..Self::plain() };
        }
        loop {
            let threshold = chance.of(&[1, 2, 8]);
            let options = Options {
                queue: chance.of(&[
                    Queue::PerWorker,
                    Queue::PerWorker,
                    Queue::Shared,
                    Queue::SharedTasks,
                    Queue::PerWorkerTasks,
                ]),
                balance: chance.of(&[
                    Balance::Steal,
                    Balance::None,
                    Balance::Push { threshold },
                    Balance::Hybrid { threshold },
                ]),
                placement: chance.of(&[Placement::Waker, Placement::Home, Placement::Pinned]),
                slice_polls: chance.of(&[1, 2, 8, 64, 64, 1000]),
                slice_nanos: chance.of(&[1000, 20_000, 200_000, 200_000, 5_000_000]),
                reuse: !chance.one_in(4),
            };
            if options.check().is_ok() {
                return Self { options, workers };
            }
        }
    }

    /// Whether a queue has an entry for each scheduled task and callback, and not for each color.
    pub(crate) fn is_flat(&self) -> bool {
        matches!(self.options.queue, Queue::SharedTasks | Queue::PerWorkerTasks)
    }

    /// Turns in a slice, at most.
    pub(crate) fn turns(&self) -> u32 {
        if self.is_flat() { 1 } else { self.options.slice_polls }
    }

    /// Whether workers take lanes from each other.
    pub(crate) fn steals(&self) -> bool {
        let steals = matches!(self.options.balance, Balance::Steal | Balance::Hybrid { .. });
        steals && !self.is_pinned()
    }

    /// Whether no worker sleeps while there is a lane that it could run (G6).
    pub(crate) fn conserves_work(&self) -> bool {
        matches!(self.options.queue, Queue::Shared | Queue::SharedTasks) || self.steals()
    }

    /// Whether lanes from outside wait where all workers find them.
    pub(crate) fn shares_arrivals(&self) -> bool {
        self.options.queue == Queue::Shared || self.options.placement == Placement::Waker
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.options.placement == Placement::Pinned
    }

    /// Whether a color's number decides on which worker it runs.
    pub(crate) fn goes_by_number(&self) -> bool {
        self.is_pinned() || self.options.queue == Queue::PerWorkerTasks
    }

    /// The worker on which a color runs all its life.
    pub(crate) fn worker_of(&self, color: Option<Color>) -> Option<u32> {
        let color = color.filter(|_| self.is_pinned())?;
        Some((color.number() % u64::from(self.workers)) as u32)
    }

    /// Whether a lane stays with the worker that has run it first, or last.
    pub(crate) fn stays(&self) -> bool {
        let Options { queue, balance, placement, .. } = self.options;
        let home = placement == Placement::Home || queue == Queue::PerWorkerTasks;
        home && balance == Balance::None && !self.conserves_work()
    }
}
