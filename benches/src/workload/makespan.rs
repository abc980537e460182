//! How near a skewed load comes to its bound, max(total / workers, heaviest color).
//!
//! The bound is measured, not computed: plain threads run the same work, split by hand in the best
//! way. So a machine whose two cores are one core's two halves does not count against the
//! scheduler.

use super::Row;
use crate::latch::Latch;
use crate::measure::{Case, Entry, Pace, Sample, Unit};
use crate::rivals::{Rival, Runtimes, workers};
use crate::spin::spin;
use crate::zipf;
use colored::Color;
use std::thread;

/// The rows of this file.
pub const ROWS: &[Row] = &[
    Row { name: "makespan_onehot", build: |on, _| case(on, one_hot()) },
    Row { name: "makespan_zipf", build: |on, _| case(on, zipf::sequence(COLORS, TASKS)) },
];

/// Tasks per sample.
const TASKS: usize = 2_000;
/// Colors they are spread over.
const COLORS: usize = 64;
/// Where their colors start.
const FIRST_COLOR: u64 = 100_000;
/// Steps of one task's work: about 20 microseconds.
const STEPS: u64 = 10_000;

/// The first color has half as much again as a worker's share, and so bounds the makespan;
/// the others share the rest evenly.
fn one_hot() -> Vec<usize> {
    let hot = (TASKS * 3).div_ceil(workers() * 2).min(TASKS);
    // The hot tasks are mixed in evenly, so that they come neither first nor last.
    (0..TASKS)
        .map(|index| {
            let is_hot = (index + 1) * hot / TASKS > index * hot / TASKS;
            if is_hot { 0 } else { 1 + index % (COLORS - 1) }
        })
        .collect()
}

fn case(on: Runtimes, colors: Vec<usize>) -> Case {
    let colors: &'static [usize] = Vec::leak(colors);
    Case {
        unit: Unit::ms("ms"),
        pace: Pace::Short,
        entries: vec![
            Entry::subject(scheduled(on, colors)),
            Entry::peer("bound", split_by_hand(colors)),
        ],
    }
}

/// One task spawns all others, so that every lane starts on one worker.
fn scheduled(on: Runtimes, colors: &'static [usize]) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let rival = on.serial();
    move || {
        Sample::time(1, || {
            rival.run(async move {
                latch.expect(TASKS);
                for &color in colors {
                    let color = Color::new(FIRST_COLOR + color as u64);
                    drop(colored::spawn_colored(color, async {
                        spin(STEPS);
                        latch.hit();
                    }));
                }
                latch.wait().await;
            });
        })
    }
}

fn split_by_hand(colors: &'static [usize]) -> impl FnMut() -> Sample {
    let shares = shares(colors, workers());
    move || {
        Sample::time(1, || {
            thread::scope(|scope| {
                for &share in &shares {
                    scope.spawn(move || (0..share).for_each(|_| spin(STEPS)));
                }
            });
        })
    }
}

/// Tasks per thread if whole colors go to threads, the heaviest color first, each to the thread
/// with the least work.
fn shares(colors: &[usize], threads: usize) -> Vec<usize> {
    let mut weights = vec![0_usize; COLORS];
    for &color in colors {
        weights[color] += 1;
    }
    weights.sort_unstable_by(|a, b| b.cmp(a));
    let mut shares = vec![0; threads];
    for weight in weights {
        if let Some(least) = shares.iter_mut().min() {
            *least += weight;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_made_split_meets_its_bound() {
        let colors = zipf::sequence(COLORS, TASKS);
        let longest = shares(&colors, 2).into_iter().max().unwrap_or(0);
        assert!(longest <= TASKS / 2 + 1, "{longest}");
        let colors = one_hot();
        let hot = colors.iter().filter(|&&color| color == 0).count();
        assert_eq!(shares(&colors, workers()).into_iter().max(), Some(hot));
    }
}
