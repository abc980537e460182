//! What the programs share: random sizes, and work.

use colored::time::{Duration, Instant};
use std::hint;
use std::ops::RangeInclusive;

/// The random choices of a program: equal seeds make equal programs.
pub(crate) struct Dice {
    random: fastrand::Rng,
    pub(crate) workers: usize,
}

impl Dice {
    pub(crate) fn new(seed: u64, workers: usize) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), workers }
    }

    pub(crate) fn number(&mut self, range: RangeInclusive<usize>) -> usize {
        self.random.usize(range)
    }

    pub(crate) fn micros(&mut self, range: RangeInclusive<u64>) -> Duration {
        Duration::from_micros(self.random.u64(range))
    }

    pub(crate) fn millis(&mut self, range: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.random.u64(range))
    }
}

/// Computes for so long.
pub(crate) fn compute(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        hint::spin_loop();
    }
}
