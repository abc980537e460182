//! Every combination of the laboratory's options.

use super::{alone, shared};
use colored::runtime::lab::{Balance, Placement, Queue};
use colored::{Builder, Runtime};
use std::time::Duration;

const QUEUES: [Queue; 4] =
    [Queue::PerWorker, Queue::Shared, Queue::SharedTasks, Queue::PerWorkerTasks];
const BALANCES: [Balance; 4] = [
    Balance::Steal,
    Balance::None,
    Balance::Push { threshold: 2 },
    Balance::Hybrid { threshold: 2 },
];
const PLACEMENTS: [Placement; 3] = [Placement::Waker, Placement::Home, Placement::Pinned];

/// How many of the combinations above go together.
const SUITABLE: usize = 10 + 2 + 2 + 6;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    queue: Queue,
    balance: Balance,
    placement: Placement,
    /// Slices of one poll and no reuse, in place of the default ones.
    pub(crate) lean: bool,
}

impl Choice {
    fn all() -> impl Iterator<Item = Self> {
        let choice =
            |queue, balance| move |placement| Self { queue, balance, placement, lean: false };
        let of_queue = move |queue| {
            BALANCES.into_iter().flat_map(move |balance| PLACEMENTS.map(choice(queue, balance)))
        };
        QUEUES.into_iter().flat_map(of_queue)
    }

    fn builder(self, workers: usize) -> Builder {
        let builder = Runtime::builder()
            .workers(workers)
            .queue(self.queue)
            .balance(self.balance)
            .placement(self.placement);
        if self.lean { builder.slice(1, Duration::from_micros(1)).reuse(false) } else { builder }
    }

    pub(crate) fn runtime(self, workers: usize) -> Runtime {
        self.builder(workers).build().expect("a suitable combination")
    }

    /// Whether a runnable lane keeps no worker parked that could run it (G6).
    pub(crate) fn conserves_work(self) -> bool {
        let shared = matches!(self.queue, Queue::Shared | Queue::SharedTasks);
        let steals = matches!(self.balance, Balance::Steal | Balance::Hybrid { .. });
        shared || (steals && self.placement != Placement::Pinned)
    }
}

/// Runs a test of all suitable combinations, beside other tests.
pub(crate) fn of_all(body: impl Fn(Choice)) {
    shared(|| each(body));
}

/// The same, while no other test runs.
pub(crate) fn of_all_alone(body: impl Fn(Choice)) {
    alone(|| each(body));
}

/// Says itself which one failed.
fn each(body: impl Fn(Choice)) {
    let mut count = 0;
    for choice in Choice::all() {
        if choice.builder(1).build().is_err() {
            continue;
        }
        for lean in [false, true] {
            let choice = Choice { lean, ..choice };
            let blame = Blame(choice);
            body(choice);
            std::mem::forget(blame);
        }
        count += 1;
    }
    assert_eq!(count, SUITABLE);
}

struct Blame(Choice);

impl Drop for Blame {
    fn drop(&mut self) {
        eprintln!("with {:?}", self.0);
    }
}
