//! How a seed chooses the next actor.

mod priorities;

use self::priorities::{Changing, Racing};
use fastrand::Rng;

/// How a seed chooses which of the runnable actors is next.
///
/// In some of the runs, a seed each, actors also give way inside a turn: before or behind an [`Act`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// All in turn, each for whole turns.
    RoundRobin,
    /// Any, with equal chances.
    Random,
    /// Each actor has a random priority, and the runnable actor of the highest one runs; at `depth - 1` random moments, the
    /// actor that runs falls behind all others. It finds a bug that depends on the order of `depth` turns with a chance of
    /// at least one in *actors · turns^(depth - 1)* (Burckhardt and others, ASPLOS 2010). A run that takes four times as
    /// long as the one before goes on at random: an actor that waits for another one by running would never end it.
    Pct {
        /// From 1.
        depth: u32,
    },
    /// Partial order sampling (Yuan and others, CAV 2018): the next act of each actor has a random priority, and the highest
    /// one happens. When a color is acted on, the other acts on that color draw anew. So each order of the acts on one color
    /// has its chance, however many other acts there are.
    Pos,
    /// Any, but one actor runs only while no other can, for a random number of turns. It may have to stop inside a turn.
    Starve,
    /// A fixed mixture of the others, a seed each.
    Portfolio,
}

/// What an actor does to a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    /// Names the color that is acted on.
    pub on: u64,
    /// Names the color of the actor; none for a timer.
    pub by: Option<u64>,
    /// The actor takes the color at once, if it is idle. Otherwise it pushes something there.
    pub takes: bool,
}

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) turns: u64,
    /// Moments inside turns at which an actor may give way.
    pub(crate) points: u64,
}

/// A choice that is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    /// Sorted, and not empty.
    pub(crate) runnable: &'a [usize],
    /// The length of the run until then.
    pub(crate) length: Length,
    /// The actor that has run last. Inside its turn it is runnable.
    pub(crate) last: usize,
    pub(crate) is_inside: bool,
}

/// The strategy of one run.
#[derive(Clone)]
pub(crate) struct Chooser {
    rng: Rng,
    kind: Kind,
    /// An actor may give way at one of so many points inside its turns; none if it may not.
    one_in: Option<u32>,
}

#[derive(Clone)]
enum Kind {
    RoundRobin,
    Random,
    Pct(Changing),
    Pos(Racing),
    Starve { victim: Option<usize>, until: u64 },
}

impl Strategy {
    /// The strategy of that seed, for a run of about that length.
    pub(crate) fn begin(self, seed: u64, length: Length) -> Chooser {
        let mut rng = Rng::with_seed(seed);
        let one_in = match self {
            Strategy::RoundRobin => None,
            Strategy::Random => [None, Some(12), Some(3)][rng.usize(..3)],
            Strategy::Pct { .. } => [None, Some(1)][rng.usize(..2)],
            Strategy::Pos => Some(1),
            Strategy::Starve => [None, Some(2)][rng.usize(..2)],
            Strategy::Portfolio => {
                let of = match seed % 8 {
                    0 => Strategy::RoundRobin,
                    1 | 2 => Strategy::Random,
                    3 | 4 => Strategy::Pct { depth: 2 },
                    5 => Strategy::Pct { depth: 3 },
                    6 => Strategy::Pos,
                    _ => Strategy::Starve,
                };
                return of.begin(seed, length);
            }
        };
        let steps = length.turns + one_in.map_or(0, |_| length.points);
        let kind = match self {
            Strategy::RoundRobin | Strategy::Portfolio => Kind::RoundRobin,
            Strategy::Random => Kind::Random,
            Strategy::Pct { depth } => Kind::Pct(Changing::new(&mut rng, depth, steps)),
            Strategy::Pos => Kind::Pos(Racing::default()),
            Strategy::Starve => Kind::Starve { victim: None, until: 0 },
        };
        Chooser { rng, kind, one_in }
    }
}

impl Chooser {
    /// The strategy for the same run, in which no actor gives way inside a turn.
    pub(crate) fn in_whole_turns(mut self) -> Self {
        self.one_in = None;
        self
    }

    /// Whether the actor, which is inside its turn and about to act, may give way. `None`: it has acted.
    pub(crate) fn may_give_way(&mut self, actor: usize, act: Option<Act>) -> bool {
        let Some(one_in) = self.one_in else { return false };
        if let Kind::Pos(racing) = &mut self.kind {
            racing.announce(&mut self.rng, actor, act);
        }
        one_in == 1 || self.rng.u32(..one_in) == 0
    }

    pub(crate) fn choose(&mut self, at: Situation<'_>) -> usize {
        let step = at.length.turns + self.one_in.map_or(0, |_| at.length.points);
        let rng = &mut self.rng;
        let any = |rng: &mut Rng, of: &[usize]| of[rng.usize(..of.len())];
        match &mut self.kind {
            Kind::RoundRobin => {
                *at.runnable.iter().find(|actor| **actor > at.last).unwrap_or(&at.runnable[0])
            }
            Kind::Random => any(rng, at.runnable),
            Kind::Pct(changing) if changing.is_late(step) => any(rng, at.runnable),
            Kind::Pct(changing) => changing.choose(rng, at, step),
            Kind::Pos(racing) => racing.choose(rng, at),
            Kind::Starve { victim, until } => {
                if step >= *until {
                    *victim = Some(any(rng, at.runnable));
                    *until = step + (1 << rng.u32(1..10));
                }
                if at.is_inside && Some(at.last) != *victim {
                    return at.last;
                }
                let is_other = |actor: &usize| Some(*actor) != *victim;
                let others: Vec<usize> = at.runnable.iter().copied().filter(is_other).collect();
                any(rng, if others.is_empty() { at.runnable } else { &others })
            }
        }
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.rng.u32(..bound)
    }

    /// Whether something happens that happens once in `one_in`.
    pub(crate) fn happens(&mut self, one_in: u32) -> bool {
        self.rng.u32(..one_in.max(1)) == 0
    }
}

#[cfg(test)]
mod tests;
