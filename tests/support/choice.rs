//! The scheduler's own way, and every policy of the papers.

use super::{alone, shared};
use colored::{Builder, Runtime};
use colored_lab::{Place, Places};
use std::time::Duration;

const POLICIES: [Option<&Places>; 10] = [
    None,
    Some(&Places { place: Place::Usual, steals: false }),
    Some(&Places { place: Place::Home, steals: true }),
    Some(&Places { place: Place::Home, steals: false }),
    Some(&Places { place: Place::Number, steals: true }),
    Some(&Places { place: Place::Number, steals: false }),
    Some(&Places { place: Place::Everybody, steals: true }),
    Some(&Places { place: Place::Everybody, steals: false }),
    Some(&Places { place: Place::Least(2), steals: true }),
    Some(&Places { place: Place::Least(2), steals: false }),
];

/// A policy, and whether the runtime is lean.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    policy: Option<&'static Places>,
    /// Slices of one poll and no reuse, in place of the default ones.
    pub lean: bool,
}

impl Choice {
    fn builder(self, workers: usize) -> Builder {
        let builder = by(self.policy).workers(workers);
        if self.lean { builder.slice(1, Duration::from_micros(1)).reuse(false) } else { builder }
    }

    /// A runtime of this choice.
    pub fn runtime(self, workers: usize) -> Runtime {
        self.builder(workers).build().expect("a suitable choice")
    }

    /// Whether a runnable lane keeps no worker parked that could run it (G6).
    pub fn conserves_work(self) -> bool {
        self.policy.is_none_or(|places| places.conserve_work())
    }
}

/// Settings with a policy, or with none. No spare workers, as in `support::runtime`.
pub fn by(policy: Option<&'static Places>) -> Builder {
    let builder = Runtime::builder().spare_workers(0);
    match policy {
        Some(places) => builder.policy(places),
        None => builder,
    }
}

/// The policies.
pub fn policies() -> impl Iterator<Item = Option<&'static Places>> {
    POLICIES.into_iter()
}

/// Runs a test of all choices, beside other tests.
pub fn of_all(body: impl Fn(Choice)) {
    shared(|| each(body));
}

/// The same, while no other test runs.
pub fn of_all_alone(body: impl Fn(Choice)) {
    alone(|| each(body));
}

/// Says itself which one failed.
fn each(body: impl Fn(Choice)) {
    for (policy, lean) in policies().flat_map(|policy| [(policy, false), (policy, true)]) {
        let choice = Choice { policy, lean };
        let blame = Blame(choice);
        body(choice);
        std::mem::forget(blame);
    }
}

struct Blame(Choice);

impl Drop for Blame {
    fn drop(&mut self) {
        eprintln!("with {:?}", self.0);
    }
}
