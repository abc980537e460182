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
    /// In the turn that ended there, this was drawn: for a fault, that it happens.
    Drawn(u32),
}

/// The deviations of a run. A turn has any number of draws, numbered, and one actor after it.
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
    /// How often the present turn has drawn.
    asked: u32,
    /// By site, the time at which it has asked last, and how often then.
    sites: BTreeMap<usize, (u64, u32)>,
    deviations: Deviations,
    /// A hash of all choices and of what the run has reported.
    trail: u64,
    /// None unless the turns are kept.
    turns_kept: Option<Vec<Turn>>,
}

/// A turn of a run that keeps its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Who had it.
    pub actor: usize,
    /// Its number among the turns of the actor, from 1.
    pub number: u64,
    /// Whether the choice of the actor was not the default.
    pub is_chosen: bool,
    /// What was drawn in it and is not the default, with the number of the draw; without what is counted apart.
    pub drawn: Vec<(u32, u32)>,
    /// When it began, in nanoseconds since the begin of the run.
    pub nanos: u64,
    /// The faults that have happened in it, or after it and before the next turn.
    pub faults: Vec<String>,
    /// What ran, as the runtime has described it.
    pub what: String,
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
            sites: BTreeMap::new(),
            deviations: BTreeMap::new(),
            trail: 0,
            turns_kept: None,
        }
    }

    /// Keeps the turns of the run, for [`turns`](Self::turns).
    #[must_use]
    pub fn keeping_turns(mut self) -> Self {
        self.turns_kept = Some(Vec::new());
        self
    }

    /// Whether the turns are kept.
    #[must_use]
    pub fn keeps_turns(&self) -> bool {
        self.turns_kept.is_some()
    }

    /// The turns, if they are kept.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        self.turns_kept.as_deref().unwrap_or_default()
    }

    /// Says when the last turn began, and what it has run, if turns are kept.
    pub fn describe(&mut self, nanos: u64, what: impl FnOnce() -> String) {
        if let Some(turn) = self.turns_kept.as_mut().and_then(|turns| turns.last_mut()) {
            turn.nanos = nanos;
            turn.what = what();
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
        if let Some(kept) = &mut self.turns_kept {
            let is_chosen = chosen != default;
            kept.push(Turn { actor: chosen, number: *turns, is_chosen, ..Turn::default() });
        }
        self.asked = 0;
        self.note(chosen as u64);
        chosen
    }

    /// Says which fault has happened, if turns are kept.
    pub fn describe_fault(&mut self, what: impl FnOnce() -> String) {
        if let Some(turn) = self.turns_kept.as_mut().and_then(|turns| turns.last_mut()) {
            turn.faults.push(what());
        }
    }

    /// Whether a fault happens that happens once in `one_in`. By default it does not.
    pub fn happens(&mut self, one_in: u32) -> bool {
        self.draw(|chooser| u32::from(chooser.happens(one_in)), 1) > 0
    }

    /// A number below `bound`, which is not zero. By default it is 0.
    pub fn choose_below(&mut self, bound: u32) -> u32 {
        self.draw(|chooser| chooser.below(bound), bound - 1)
    }

    fn draw(&mut self, draw: impl FnOnce(&mut Chooser) -> u32, most: u32) -> u32 {
        let number = self.asked;
        self.asked += 1;
        self.draw_at((self.last, Some(number)), Some(number), draw, most)
    }

    /// A number up to `most`. A replay may name a larger one, that another version of the program had. `number` is that of the
    /// draw in its turn.
    fn draw_at(
        &mut self,
        key: (Place, Option<u32>),
        number: Option<u32>,
        draw: impl FnOnce(&mut Chooser) -> u32,
        most: u32,
    ) -> u32 {
        let drawn = match &mut self.source {
            Source::Strategy(chooser) => draw(chooser),
            Source::Replay(deviations) => match deviations.get(&key) {
                Some(Deviation::Drawn(drawn)) => (*drawn).min(most),
                _ => 0,
            },
        };
        if drawn > 0 {
            self.deviations.insert(key, Deviation::Drawn(drawn));
            let turn = self.turns_kept.as_mut().and_then(|turns| turns.last_mut());
            if let (Some(turn), Some(number)) = (turn, number) {
                turn.drawn.push((number, drawn));
            }
        }
        self.note(u64::from(drawn));
        drawn
    }

    /// As [`happens`](Self::happens), for something that concerns a site: the choice is named by the site, by `time`, and
    /// by how often the site has asked at that time. It stays the same one when turns before that time are removed.
    pub fn happens_at(&mut self, site: usize, time: u64, one_in: u32) -> bool {
        let asked = self.sites.entry(site).or_default();
        if asked.0 != time {
            *asked = (time, 0);
        }
        let number = asked.1;
        asked.1 += 1;
        let key = (Place { actor: SITES + site, turns: time }, Some(number));
        self.draw_at(key, None, |chooser| u32::from(chooser.happens(one_in)), 1) > 0
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

    /// A hash of the choices and of what the run has [noted](Self::note): two equal runs have equal trails.
    #[must_use]
    pub fn trail(&self) -> u64 {
        self.trail
    }

    pub(crate) fn into_deviations(self) -> Deviations {
        self.deviations
    }
}

#[cfg(test)]
mod tests {
    use super::{Choices, Deviation, Place, Turn};
    use crate::strategy::Strategy;
    use std::collections::BTreeMap;

    fn walk(choices: &mut Choices) -> Vec<usize> {
        let runnable: [&[usize]; 5] = [&[0, 2], &[0, 1, 2], &[1], &[0, 1, 2], &[0, 2]];
        let mut walked = Vec::new();
        for runnable in runnable.iter().cycle().take(40) {
            walked.push(choices.choose(runnable));
            walked.push(usize::from(choices.happens(3)));
            walked.push(choices.choose_below(4) as usize);
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
    fn turns_are_kept_with_what_was_not_the_default() {
        let next = ((Place { actor: 1, turns: 1 }, None), Deviation::Next(2));
        let drawn = ((Place { actor: 2, turns: 1 }, Some(1)), Deviation::Drawn(3));
        let mut choices = Choices::replay([next, drawn].into()).keeping_turns();
        for _ in 0..2 {
            choices.choose(&[1, 2]);
            choices.happens(2);
            choices.choose_below(4);
            choices.describe(7, || "it".to_owned());
        }
        let what = "it".to_owned();
        let it = Turn { actor: 1, number: 1, nanos: 7, what, ..Turn::default() };
        let second = Turn { actor: 2, is_chosen: true, drawn: vec![(1, 3)], ..it.clone() };
        assert_eq!(choices.turns(), [it, second]);
    }

    #[test]
    fn a_choice_of_a_site_stays_when_turns_before_it_are_removed() {
        let fault = (Place { actor: super::SITES + 3, turns: 70 }, Some(1));
        for turns in 0..5 {
            let mut choices = Choices::replay([(fault, Deviation::Drawn(1))].into());
            for _ in 0..turns {
                let _actor = choices.choose(&[0, 1]);
                assert!(!choices.happens(1) && !choices.happens_at(3, 69, 1));
            }
            let asked = [3, 2, 3, 3].map(|site| choices.happens_at(site, 70, 1));
            assert_eq!(asked, [false, false, true, false]);
            assert_eq!(choices.into_deviations().len(), 1);
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
        assert_eq!(choices.choose_below(5), 0);
        assert!(choices.into_deviations().is_empty());
    }

    #[test]
    fn a_number_that_is_too_large_becomes_the_largest() {
        let drawn = |number| ((Place { actor: 0, turns: 0 }, Some(number)), Deviation::Drawn(9));
        let mut choices = Choices::replay([drawn(0), drawn(1)].into());
        assert_eq!((choices.choose_below(3), choices.happens(1)), (2, true));
    }

    #[test]
    fn an_actor_that_is_not_runnable_is_replaced_by_the_default() {
        let after = |actor, turns, next| ((Place { actor, turns }, None), Deviation::Next(next));
        let mut choices = Choices::replay([after(0, 0, 9), after(1, 1, 2)].into());
        assert_eq!((choices.choose(&[1, 2]), choices.choose(&[1, 2])), (1, 2));
    }
}
