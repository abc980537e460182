//! How a seed chooses the next actor.

use fastrand::Rng;
use std::collections::BTreeMap;

/// How a seed chooses which of the runnable actors is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// All in turn.
    RoundRobin,
    /// Any, with equal chances.
    Random,
    /// Each actor has a random priority, and the runnable actor of the highest one runs; at `depth - 1` random turns, the
    /// actor that runs falls behind all others. It finds a bug that depends on the order of `depth` turns with a chance of
    /// at least one in *actors · turns^(depth - 1)* (Burckhardt and others, ASPLOS 2010).
    Pct {
        /// From 1.
        depth: u32,
    },
    /// Any, but one actor runs only while no other can, for a random number of turns.
    Starve,
    /// A fixed mixture of the others, a seed each.
    Portfolio,
}

/// The strategy of one run.
pub(crate) struct Chooser {
    rng: Rng,
    kind: Kind,
}

enum Kind {
    RoundRobin,
    Random,
    Pct { priorities: BTreeMap<usize, u64>, changes: Vec<u64>, lowest: u64 },
    Starve { victim: Option<usize>, until: u64 },
}

/// The priority that no drawn one is below.
const LOWEST_DRAWN: u64 = 1 << 32;

impl Strategy {
    /// The strategy of that seed, for a run of about `turns` turns.
    pub(crate) fn begin(self, seed: u64, turns: u64) -> Chooser {
        let mut rng = Rng::with_seed(seed);
        let kind = match self {
            Strategy::RoundRobin => Kind::RoundRobin,
            Strategy::Random => Kind::Random,
            Strategy::Pct { depth } => Kind::Pct {
                priorities: BTreeMap::new(),
                changes: (1..depth).map(|_| rng.u64(..turns.max(1))).collect(),
                lowest: LOWEST_DRAWN,
            },
            Strategy::Starve => Kind::Starve { victim: None, until: 0 },
            Strategy::Portfolio => {
                let of = match seed % 8 {
                    0 => Strategy::RoundRobin,
                    1 | 2 => Strategy::Random,
                    3..=5 => Strategy::Pct { depth: 2 },
                    6 => Strategy::Pct { depth: 3 },
                    _ => Strategy::Starve,
                };
                return of.begin(seed, turns);
            }
        };
        Chooser { rng, kind }
    }
}

impl Chooser {
    /// One of `runnable`, which is sorted and not empty. `turn` counts the choices; `last` ran last.
    pub(crate) fn choose(&mut self, runnable: &[usize], turn: u64, last: usize) -> usize {
        let rng = &mut self.rng;
        let any = |rng: &mut Rng, of: &[usize]| of[rng.usize(..of.len())];
        match &mut self.kind {
            Kind::RoundRobin => {
                *runnable.iter().find(|actor| **actor > last).unwrap_or(&runnable[0])
            }
            Kind::Random => any(rng, runnable),
            Kind::Pct { priorities, changes, lowest } => {
                for actor in runnable {
                    priorities.entry(*actor).or_insert_with(|| rng.u64(LOWEST_DRAWN..));
                }
                if changes.contains(&turn) {
                    *lowest -= 1;
                    priorities.insert(last, *lowest);
                }
                let of = |actor: &&usize| priorities[*actor];
                *runnable.iter().max_by_key(of).expect("some actor is runnable")
            }
            Kind::Starve { victim, until } => {
                if turn >= *until {
                    *victim = Some(any(rng, runnable));
                    *until = turn + (1 << rng.u32(1..10));
                }
                let others: Vec<usize> =
                    runnable.iter().copied().filter(|actor| Some(*actor) != *victim).collect();
                any(rng, if others.is_empty() { runnable } else { &others })
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
mod tests {
    use super::Strategy;

    fn run(strategy: Strategy, seed: u64) -> Vec<usize> {
        let mut chooser = strategy.begin(seed, 100);
        let mut last = 0;
        let choose = |turn| {
            last = chooser.choose(&[1, 4, 6], turn, last);
            last
        };
        (0..100).map(choose).collect()
    }

    #[test]
    fn a_seed_chooses_the_same_again() {
        for strategy in [
            Strategy::RoundRobin,
            Strategy::Random,
            Strategy::Pct { depth: 3 },
            Strategy::Starve,
            Strategy::Portfolio,
        ] {
            for seed in 0..20 {
                assert_eq!(run(strategy, seed), run(strategy, seed), "{strategy:?} {seed}");
            }
        }
    }

    #[test]
    fn round_robin_takes_all_in_turn() {
        assert_eq!(run(Strategy::RoundRobin, 7)[..4], [1, 4, 6, 1]);
    }

    #[test]
    fn priorities_change_as_often_as_the_depth_says() {
        for seed in 0..50 {
            let run = run(Strategy::Pct { depth: 3 }, seed);
            let changes = run.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(changes <= 2, "{seed}: {run:?}");
        }
        let changed =
            |seed| run(Strategy::Pct { depth: 2 }, seed).windows(2).any(|of| of[0] != of[1]);
        assert!((0..50).any(changed));
    }

    #[test]
    fn a_starved_actor_runs_seldom() {
        let seldom = |seed| {
            let run = run(Strategy::Starve, seed);
            [1, 4, 6].iter().any(|actor| run.iter().filter(|ran| *ran == actor).count() < 20)
        };
        assert!((0..50).filter(|seed| seldom(*seed)).count() > 25);
    }
}
