//! How a seed chooses the next actor.

mod priorities;

use self::priorities::{Changing, Racing};
use fastrand::Rng;
use std::ops::Range;

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
    /// Each actor has a random priority, and the runnable actor of the highest one runs; at `depth - 1` random choices, the
    /// actor that has run falls behind all that have not fallen. It finds a bug that depends on the order of `depth` turns with a
    /// chance of about one in *actors · choices^(depth - 1)* (Burckhardt and others, ASPLOS 2010). A choice is a moment at which
    /// several actors can go on. A run of four times as many choices as the one before goes on at random: an actor that waits for
    /// another one by running would never end it.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) turns: u64,
    /// Moments inside turns at which an actor may give way.
    pub(crate) points: u64,
    /// The steps at which several actors could go on, of so many.
    pub(crate) choices: u64,
    pub(crate) steps: u64,
}

impl Length {
    /// The steps of such a run: its turns, and its points if actors give way there.
    pub(crate) fn steps_if(&self, gives_way: bool) -> u64 {
        self.turns + if gives_way { self.points } else { 0 }
    }

    /// The choices to expect of such a run.
    fn choices_if(&self, gives_way: bool) -> u64 {
        let steps = u128::from(self.steps_if(gives_way));
        let choices = u128::from(self.choices) * steps / u128::from(self.steps.max(1));
        u64::try_from(choices).unwrap_or(u64::MAX)
    }
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

impl Situation<'_> {
    /// The actor with the highest number that has to do with the choice.
    fn most(&self) -> usize {
        self.runnable.last().copied().unwrap_or(0).max(self.last)
    }
}

/// The strategy of one run.
#[derive(Clone)]
pub(crate) struct Chooser {
    rng: Rng,
    kind: Kind,
    /// An actor may give way at one of so many points inside its turns; none if it may not.
    one_in: Option<u32>,
    /// The points of the run at which that may be.
    stretch: Range<u64>,
}

/// A run of so many points has them everywhere; a longer one, in a stretch of it. On threads, most such choices wake another
/// thread, for some microseconds: a long run with one at each point takes ten times as long as one without. A guess.
const SHORT: u64 = 512;

/// The shortest stretch.
const SHORTEST: u64 = 128;

/// An actor gives way so much more seldom at an act on its own color, such as the wake of a task by itself. What others do
/// between that and the end of the turn, they may do behind the turn as well, but for what they push on that color.
const OWN: u32 = 32;

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
        let kind = match self {
            Strategy::RoundRobin | Strategy::Portfolio => Kind::RoundRobin,
            Strategy::Random => Kind::Random,
            Strategy::Pct { depth } => {
                let choices = length.choices_if(one_in.is_some());
                Kind::Pct(Changing::new(&mut rng, depth, choices))
            }
            Strategy::Pos => Kind::Pos(Racing::default()),
            Strategy::Starve => Kind::Starve { victim: None, until: 0 },
        };
        let stretch = draw_stretch(&mut rng, length.points);
        Chooser { rng, kind, one_in, stretch }
    }
}

/// All of a short run; of a long one, at most half, and each order of magnitude of its length has the same chance.
fn draw_stretch(rng: &mut Rng, points: u64) -> Range<u64> {
    if points <= SHORT {
        return 0..u64::MAX;
    }
    let length = points >> rng.u32(1..=(points / SHORTEST).ilog2());
    let begin = rng.u64(..=points - length);
    // The run may be longer than the one before.
    let end = if begin + length == points { u64::MAX } else { begin + length };
    begin..end
}

impl Chooser {
    /// The strategy for the same run, in which no actor gives way inside a turn.
    pub(crate) fn in_whole_turns(mut self) -> Self {
        self.one_in = None;
        self
    }

    /// Whether actors give way inside their turns.
    pub(crate) fn gives_way(&self) -> bool {
        self.one_in.is_some()
    }

    /// Whether the actor, which is inside its turn, may give way before its act if `is_ahead`, or behind it, when the run has
    /// passed so many points.
    #[inline]
    pub(crate) fn may_give_way(
        &mut self,
        actor: usize,
        act: Act,
        is_ahead: bool,
        passed: u64,
    ) -> bool {
        let Some(one_in) = self.one_in.filter(|_| self.stretch.contains(&passed)) else {
            return false;
        };
        if let Kind::Pos(racing) = &mut self.kind {
            racing.announce(&mut self.rng, actor, is_ahead.then_some(act));
        }
        let one_in = if act.by == Some(act.on) { one_in * OWN } else { one_in };
        one_in == 1 || is_first(self.rng.u32(..), one_in)
    }

    #[inline]
    pub(crate) fn choose(&mut self, at: Situation<'_>) -> usize {
        let step = at.length.steps_if(self.gives_way());
        let rng = &mut self.rng;
        let any = |rng: &mut Rng, of: &[usize]| of[rng.usize(..of.len())];
        match &mut self.kind {
            Kind::RoundRobin => {
                *at.runnable.iter().find(|actor| **actor > at.last).unwrap_or(&at.runnable[0])
            }
            Kind::Random => any(rng, at.runnable),
            Kind::Pct(changing) if changing.is_late(at) => any(rng, at.runnable),
            Kind::Pct(changing) => changing.choose(rng, at),
            Kind::Pos(racing) => racing.choose(rng, at),
            Kind::Starve { victim, until } => {
                if step >= *until {
                    *victim = Some(any(rng, at.runnable));
                    *until = step + (1 << rng.u32(1..10));
                }
                if at.is_inside && Some(at.last) != *victim {
                    return at.last;
                }
                let is_other = |actor: &&usize| Some(**actor) != *victim;
                match at.runnable.iter().filter(is_other).count() {
                    0 => any(rng, at.runnable),
                    others => {
                        let number = rng.usize(..others);
                        *at.runnable.iter().filter(is_other).nth(number).expect("there are so many")
                    }
                }
            }
        }
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.rng.u32(..bound)
    }

    /// Whether something happens that happens once in `one_in`.
    pub(crate) fn happens(&mut self, one_in: u32) -> bool {
        is_first(self.rng.u32(..), one_in)
    }
}

/// Whether a random number is in the first of so many parts of all. The parts differ by one number at most.
fn is_first(random: u32, of: u32) -> bool {
    u64::from(random) * u64::from(of) < 1 << 32
}

#[cfg(test)]
mod tests;
