//! Strategies by priorities.

use super::{Act, Situation};
use fastrand::Rng;

/// The priority that no drawn one is below.
const LOWEST_DRAWN: u64 = 1 << 32;

/// A run of so many times the expected length is late.
const LATE: u64 = 4;

/// The priorities of actors, some of which change.
#[derive(Clone)]
pub(super) struct Changing {
    /// By actor; 0 before it has one.
    priorities: Vec<u64>,
    /// When the actor that has run falls behind the others.
    changes: Vec<u64>,
    lowest: u64,
    steps: u64,
}

impl Changing {
    pub(super) fn new(rng: &mut Rng, depth: u32, steps: u64) -> Self {
        Self {
            priorities: Vec::new(),
            changes: (1..depth).map(|_| rng.u64(..steps.max(1))).collect(),
            lowest: LOWEST_DRAWN,
            steps,
        }
    }

    pub(super) fn is_late(&self, step: u64) -> bool {
        step > LATE * self.steps.max(100)
    }

    pub(super) fn choose(&mut self, rng: &mut Rng, at: Situation<'_>, step: u64) -> usize {
        let most = at.most();
        if most >= self.priorities.len() {
            self.priorities.resize(most + 1, 0);
        }
        for actor in at.runnable {
            if self.priorities[*actor] == 0 {
                self.priorities[*actor] = rng.u64(LOWEST_DRAWN..);
            }
        }
        let changes = self.changes.len();
        self.changes.retain(|change| *change > step);
        if self.changes.len() < changes {
            self.lowest -= 1;
            self.priorities[at.last] = self.lowest;
        }
        let of = |actor: &&usize| self.priorities[**actor];
        *at.runnable.iter().max_by_key(of).expect("some actor is runnable")
    }
}

/// The priorities of the next acts of actors. Two acts on one color race.
#[derive(Clone, Default)]
pub(super) struct Racing {
    /// By actor.
    next: Vec<Option<Next>>,
}

#[derive(Clone, Copy)]
struct Next {
    priority: u64,
    on: Option<u64>,
}

impl Racing {
    /// The actor, inside its turn, is about to act; or to go on without an act.
    pub(super) fn announce(&mut self, rng: &mut Rng, actor: usize, act: Option<Act>) {
        self.make_room(actor);
        self.next[actor] = Some(Next { priority: rng.u64(..), on: act.map(|act| act.on) });
    }

    fn make_room(&mut self, actor: usize) {
        if actor >= self.next.len() {
            self.next.resize(actor + 1, None);
        }
    }

    pub(super) fn choose(&mut self, rng: &mut Rng, at: Situation<'_>) -> usize {
        self.make_room(at.most());
        if !at.is_inside {
            self.next[at.last] = None;
        }
        for actor in at.runnable {
            self.next[*actor].get_or_insert_with(|| Next { priority: rng.u64(..), on: None });
        }
        let of = |actor: &&usize| self.next[**actor].map(|next| next.priority);
        let chosen = *at.runnable.iter().max_by_key(of).expect("some actor is runnable");
        if let Some(Next { on: Some(on), .. }) = self.next[chosen].take() {
            for next in self.next.iter_mut().flatten().filter(|next| next.on == Some(on)) {
                next.priority = rng.u64(..);
            }
        }
        chosen
    }
}
