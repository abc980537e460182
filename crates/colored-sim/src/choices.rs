//! The choices of one run.

use crate::strategy::Chooser;
use std::collections::BTreeMap;

/// The place of a choice: after which turn of which actor it is made. A choice that is removed does not move the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The actor that ran last, and its turns until then.
    pub(crate) actor: usize,
    pub(crate) turns: u64,
}

/// What a run does otherwise than by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deviation {
    /// This actor is next.
    Next(usize),
    /// In the turn that ended there, the fault of this number happened.
    Fault(u32),
}

/// The deviations of a run. A turn has any number of faults, and one actor after it.
pub(crate) type Deviations = BTreeMap<(Place, Option<u32>), Deviation>;

/// The choices of one run. Each has a default: the actor that ran last goes on, or else the next one by number; and no
/// fault happens. A run is described by the choices that are not the default.
pub struct Choices {
    source: Source,
    /// The number of choices.
    made: u64,
    last: Place,
    /// By actor, its turns.
    turns: BTreeMap<usize, u64>,
    /// How often the present turn has asked for a fault.
    asked: u32,
    deviations: Deviations,
    /// A hash of all choices and of what the run has reported.
    trail: u64,
}

enum Source {
    Strategy(Chooser),
    Replay(Deviations),
}

/// The sites of [`Choices::happens_at`] have places as actors have, from this number on.
const SITES: usize = 1_000_000;

impl Choices {
    pub(crate) fn by(chooser: Chooser) -> Self {
        Self::of(Source::Strategy(chooser))
    }

    /// The choices of a replay. The default is chosen where it names none, or an actor that is not runnable.
    pub(crate) fn replay(deviations: Deviations) -> Self {
        Self::of(Source::Replay(deviations))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            made: 0,
            last: Place { actor: 0, turns: 0 },
            turns: BTreeMap::new(),
            asked: 0,
            deviations: BTreeMap::new(),
            trail: 0,
        }
    }

    /// Chooses the actor that runs next: one of `runnable`, which is sorted.
    ///
    /// # Panics
    ///
    /// If none is.
    pub fn choose(&mut self, runnable: &[usize]) -> usize {
        let last = self.last;
        let next = || runnable.iter().find(|actor| **actor > last.actor).or(runnable.first());
        let default = match runnable.binary_search(&last.actor) {
            Ok(_) => last.actor,
            Err(_) => *next().expect("some actor is runnable"),
        };
        let chosen = match &mut self.source {
            Source::Strategy(chooser) if runnable.len() > 1 => {
                chooser.choose(runnable, self.made, last.actor)
            }
            Source::Strategy(_) => default,
            Source::Replay(deviations) => match deviations.get(&(last, None)) {
                Some(Deviation::Next(actor)) if runnable.contains(actor) => *actor,
                _ => default,
            },
        };
        if chosen != default {
            self.deviations.insert((last, None), Deviation::Next(chosen));
        }
        self.made += 1;
        let turns = self.turns.entry(chosen).or_default();
        *turns += 1;
        self.last = Place { actor: chosen, turns: *turns };
        self.asked = 0;
        self.note(chosen as u64);
        chosen
    }

    /// Whether a fault happens that happens once in `one_in`. By default it does not.
    pub fn happens(&mut self, one_in: u32) -> bool {
        let key = (self.last, Some(self.asked));
        let happens = match &mut self.source {
            Source::Strategy(chooser) => chooser.happens(one_in),
            Source::Replay(deviations) => deviations.contains_key(&key),
        };
        if happens {
            self.deviations.insert(key, Deviation::Fault(self.asked));
        }
        self.asked += 1;
        self.note(u64::from(happens));
        happens
    }

    /// As [`happens`](Self::happens), for something that is counted apart: the choice is named by the site, and by how often
    /// that has asked. It stays the same one when choices of turns before it are removed.
    pub fn happens_at(&mut self, site: usize, one_in: u32) -> bool {
        let count = self.turns.entry(SITES + site).or_default();
        *count += 1;
        let key = (Place { actor: SITES + site, turns: *count }, Some(0));
        let happens = match &mut self.source {
            Source::Strategy(chooser) => chooser.happens(one_in),
            Source::Replay(deviations) => deviations.contains_key(&key),
        };
        if happens {
            self.deviations.insert(key, Deviation::Fault(0));
        }
        self.note(u64::from(happens));
        happens
    }

    /// Adds something that the run has done to its trail: two runs of the same choices have equal trails.
    pub fn note(&mut self, value: u64) {
        // The step of FNV-1a, by 64 bits.
        self.trail = (self.trail ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    }

    /// How many turns have been chosen.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    pub(crate) fn trail(&self) -> u64 {
        self.trail
    }

    pub(crate) fn into_deviations(self) -> Deviations {
        self.deviations
    }
}

#[cfg(test)]
mod tests {
    use super::{Choices, Deviation, Place};
    use crate::strategy::Strategy;
    use std::collections::BTreeMap;

    fn walk(choices: &mut Choices) -> Vec<usize> {
        let runnable: [&[usize]; 5] = [&[0, 2], &[0, 1, 2], &[1], &[0, 1, 2], &[0, 2]];
        let mut walked = Vec::new();
        for runnable in runnable.iter().cycle().take(40) {
            walked.push(choices.choose(runnable));
            walked.push(usize::from(choices.happens(3)));
        }
        walked
    }

    #[test]
    fn the_deviations_of_a_run_replay_it() {
        for seed in 0..200 {
            let mut first = Choices::by(Strategy::Portfolio.begin(seed, 80));
            let walked = walk(&mut first);
            let trail = first.trail();
            let mut again = Choices::replay(first.into_deviations());
            assert_eq!(walk(&mut again), walked, "seed {seed}");
            assert_eq!(again.trail(), trail, "seed {seed}");
        }
    }

    #[test]
    fn without_deviations_the_last_actor_goes_on() {
        let mut choices = Choices::replay(BTreeMap::new());
        assert_eq!(choices.choose(&[1, 2]), 1);
        assert_eq!(choices.choose(&[1, 2]), 1);
        assert_eq!(choices.choose(&[0, 2]), 2);
        assert_eq!(choices.choose(&[0, 1]), 0);
        assert!(!choices.happens(1));
        assert!(choices.into_deviations().is_empty());
    }

    #[test]
    fn an_actor_that_is_not_runnable_is_replaced_by_the_default() {
        let after = |actor, turns, next| ((Place { actor, turns }, None), Deviation::Next(next));
        let mut choices = Choices::replay([after(0, 0, 9), after(1, 1, 2)].into());
        assert_eq!((choices.choose(&[1, 2]), choices.choose(&[1, 2])), (1, 2));
    }
}
