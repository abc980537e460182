//! Each worker has a task that spawns tasks under colors of which some are far more frequent than others, and joins
//! them.

use crate::machine::{Load, done, work};
use colored_core::{Color, SchedulerHandle};
use std::sync::Arc;

/// Tasks that one task waits for at a time.
const BATCH: u64 = 32;

/// How frequent the keys are: of so many, with this exponent.
const KEYS: usize = 10_000;
const EXPONENT: f64 = 0.99;

const FIRST_COLOR: u64 = 1_000_000;

pub(crate) struct Zipf {
    pub(crate) workers: usize,
    pub(crate) ops: u64,
    /// Nanoseconds of a task.
    pub(crate) nanos: u64,
}

impl Zipf {
    /// The most workers that the most frequent color lets work at once.
    pub(crate) fn most_at_once() -> f64 {
        sums()[KEYS - 1]
    }
}

/// The sums of the weights of the first keys.
fn sums() -> Vec<f64> {
    let mut sum = 0.0;
    let weights = (1..=KEYS).map(|rank| (rank as f64).powf(-EXPONENT));
    weights
        .map(|weight| {
            sum += weight;
            sum
        })
        .collect()
}

/// A sequence of keys from a seed.
struct Keys(Arc<Vec<f64>>, u64);

impl Keys {
    fn next(&mut self) -> u64 {
        // Of Marsaglia (2003): xorshift.
        self.1 ^= self.1 << 13;
        self.1 ^= self.1 >> 7;
        self.1 ^= self.1 << 17;
        let point = (self.1 >> 11) as f64 / (1_u64 << 53) as f64 * self.0[KEYS - 1];
        self.0.partition_point(|sum| *sum <= point).min(KEYS - 1) as u64
    }
}

impl Load for Zipf {
    fn begin(&self, handle: &SchedulerHandle) {
        let (share, sums) = (self.ops / self.workers as u64, Arc::new(sums()));
        for worker in 0..self.workers as u64 {
            let (spawner, nanos) = (handle.clone(), self.nanos);
            let seed = (worker + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut keys = Keys(Arc::clone(&sums), seed);
            drop(handle.spawn_unique(async move {
                let mut left = share;
                while left > 0 {
                    let mut spawned = Vec::new();
                    for _ in 0..BATCH.min(left) {
                        let color = Color::new(FIRST_COLOR + keys.next());
                        spawned.push(spawner.spawn_colored(color, async move {
                            work(nanos);
                            done();
                        }));
                    }
                    left -= BATCH.min(left);
                    for task in spawned {
                        task.await.expect("no task panics");
                    }
                }
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_has_its_share() {
        let mut keys = Keys(Arc::new(sums()), 1);
        let first = (0..100_000).filter(|_| keys.next() == 0).count() as f64 / 100_000.0;
        assert!((first * Zipf::most_at_once() - 1.0).abs() < 0.05, "{first}");
    }
}
