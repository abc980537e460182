//! Strategies by priorities.

use super::{Act, Situation};
use fastrand::Rng;
use std::collections::BTreeMap;

/// The priority that no drawn one is below.
const LOWEST_DRAWN: u64 = 1 << 32;

/// A run of so many times the expected length is late.
const LATE: u64 = 4;

/// The priorities of actors, some of which change.
#[derive(Clone)]
pub(super) struct Changing {
    priorities: BTreeMap<usize, u64>,
    /// When the actor that has run falls behind the others.
    changes: Vec<u64>,
    lowest: u64,
    steps: u64,
}

impl Changing {
    pub(super) fn new(rng: &mut Rng, depth: u32, steps: u64) -> Self {
        Self {
            priorities: BTreeMap::new(),
            changes: (1..depth).map(|_| rng.u64(..steps.max(1))).collect(),
            lowest: LOWEST_DRAWN,
            steps,
        }
    }

    pub(super) fn is_late(&self, step: u64) -> bool {
        step > LATE * self.steps.max(100)
    }

    pub(super) fn choose(&mut self, rng: &mut Rng, at: Situation<'_>, step: u64) -> usize {
        for actor in at.runnable {
            self.priorities.entry(*actor).or_insert_with(|| rng.u64(LOWEST_DRAWN..));
        }
        let changes = self.changes.len();
        self.changes.retain(|change| *change > step);
        if self.changes.len() < changes {
            self.lowest -= 1;
            self.priorities.insert(at.last, self.lowest);
        }
        let of = |actor: &&usize| self.priorities[*actor];
        *at.runnable.iter().max_by_key(of).expect("some actor is runnable")
    }
}

/// The priorities of the next acts of actors. Two acts on one color race.
#[derive(Clone, Default)]
pub(super) struct Racing {
    next: BTreeMap<usize, Next>,
}

#[derive(Clone, Copy)]
struct Next {
    priority: u64,
    on: Option<u64>,
}

impl Racing {
    /// The actor, inside its turn, is about to act; or to go on without an act.
    pub(super) fn announce(&mut self, rng: &mut Rng, actor: usize, act: Option<Act>) {
        self.next.insert(actor, Next { priority: rng.u64(..), on: act.map(|act| act.on) });
    }

    pub(super) fn choose(&mut self, rng: &mut Rng, at: Situation<'_>) -> usize {
        if !at.is_inside {
            self.next.remove(&at.last);
        }
        for actor in at.runnable {
            self.next.entry(*actor).or_insert_with(|| Next { priority: rng.u64(..), on: None });
        }
        let of = |actor: &&usize| self.next[*actor].priority;
        let chosen = *at.runnable.iter().max_by_key(of).expect("some actor is runnable");
        if let Some(Next { on: Some(on), .. }) = self.next.remove(&chosen) {
            for next in self.next.values_mut().filter(|next| next.on == Some(on)) {
                next.priority = rng.u64(..);
            }
        }
        chosen
    }
}
