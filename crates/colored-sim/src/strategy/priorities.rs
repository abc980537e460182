//! Strategies by priorities.

use super::{Act, Situation};
use fastrand::Rng;

/// The priority that no drawn one is below.
const LOWEST_DRAWN: u64 = 1 << 32;

/// A run of so many times the expected choices is late.
const LATE: u64 = 4;

/// The priorities of actors, some of which change.
#[derive(Clone)]
pub(super) struct Changing {
    /// By actor; 0 before it has one.
    priorities: Vec<u64>,
    /// The number of the choice at which the actor that has run falls, and its priority from then on. Who falls later is not
    /// always behind who has fallen before: all orders of them have the same chance.
    changes: Vec<(u64, u64)>,
    choices: u64,
}

impl Changing {
    pub(super) fn new(rng: &mut Rng, depth: u32, choices: u64) -> Self {
        let change = |priority| (rng.u64(..choices.max(1)), u64::from(priority));
        Self { priorities: Vec::new(), changes: (1..depth).map(change).collect(), choices }
    }

    pub(super) fn is_late(&self, at: Situation<'_>) -> bool {
        at.length.choices > LATE * self.choices.max(100)
    }

    pub(super) fn choose(&mut self, rng: &mut Rng, at: Situation<'_>) -> usize {
        let most = at.most();
        if most >= self.priorities.len() {
            self.priorities.resize(most + 1, 0);
        }
        for actor in at.runnable {
            if self.priorities[*actor] == 0 {
                self.priorities[*actor] = rng.u64(LOWEST_DRAWN..);
            }
        }
        let change = self.changes.iter().find(|(choice, _)| *choice == at.length.choices);
        if let Some((_, priority)) = change {
            self.priorities[at.last] = *priority;
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
