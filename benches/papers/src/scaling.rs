//! The gain of more workers: from one to the number of cores, by powers of two.

use super::{Plan, Report};
use crate::clients::{CLIENTS, closed_loop};
use colored::{Color, ColorCell};
use colored_benches::chart::{Axis, Chart, Series, number};
use colored_benches::latch::Latch;
use colored_benches::measure::{Entry, Sample};
use colored_benches::random::Random;
use colored_benches::rivals::{Rival, Serial};
use colored_benches::spin::{PER_MICROSECOND, spin};
use std::hint::black_box;
use std::thread::available_parallelism;
use std::time::Duration;

/// Where the colors start.
const FIRST_COLOR: u64 = 8_000_000;
/// Colors of each load.
const COLORS: usize = 1_000;

/// A load by name.
type Load = (&'static str, fn(Serial, usize) -> Box<dyn FnMut() -> Sample>);

const LOADS: [Load; 4] = [
    ("tasks of 20 us, 1,000 colors", |on, ops| Box::new(tasks(on, ops, 20 * PER_MICROSECOND))),
    ("empty tasks, a color each", |on, ops| Box::new(spawns(on, ops))),
    ("transfers by when", |on, ops| Box::new(transfers(on, ops))),
    ("reads of four keys", |on, ops| Box::new(reads(on, ops))),
];

/// Runs all loads.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let counts = worker_counts(available_parallelism().map_or(1, usize::from));
    let runtimes: Vec<Serial> = counts
        .iter()
        .map(|&count| Serial::start(colored::Runtime::builder().workers(count)))
        .collect();
    let mut rows = Vec::new();
    let mut series = Vec::new();
    for (name, load) in LOADS {
        let ops = plan.pick(10_000, 5_000, 500);
        let entry = |(index, on): (usize, &Serial)| {
            let sample = load(*on, ops);
            if index == 0 { Entry::subject(sample) } else { Entry::peer("more workers", sample) }
        };
        let entries = runtimes.iter().enumerate().map(entry).collect();
        let outcomes = plan.alternate(Duration::from_secs(4), entries);
        let gain = |index: usize| outcomes[0].cost / outcomes[index].cost;
        let points = counts.iter().enumerate().map(|(index, &at)| (at as f64, gain(index)));
        series.push(Series::measured(name, points.collect()));
        let mut row = vec![name.to_owned(), number(outcomes[0].cost * 1e9)];
        row.extend((1..counts.len()).map(|index| number(gain(index))));
        rows.push(row);
        if let Some(last) = (counts.len() > 1).then(|| outcomes[counts.len() - 1].cost * 1e9) {
            let name = format!("scaling_{}", name.split(' ').next().unwrap_or(name));
            report.ratio(&name, last, "one_worker", outcomes[0].cost * 1e9, "ns/op");
        }
    }
    let mut head = vec![String::new(), String::from("1 worker, ns")];
    head.extend(counts[1..].iter().map(|count| format!("gain by {count}")));
    report.table(&head.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
    if counts.len() > 1 {
        let ideal = counts.iter().map(|&count| (count as f64, count as f64)).collect();
        series.push(Series::reference("as many times", ideal));
        let title = String::from("throughput over that of one worker");
        let (x, y) = (Axis::log("workers"), Axis::linear("gain"));
        report.plot("scaling", "gain by number of workers", Chart { title, x, y, series }.draw());
    }
    report
}

/// 1, 2, 4 and so on, and all cores.
pub(super) fn worker_counts(cores: usize) -> Vec<usize> {
    let mut counts: Vec<_> = std::iter::successors(Some(1), |count| Some(count * 2))
        .take_while(|&n| n < cores)
        .collect();
    counts.push(cores);
    counts
}

fn tasks(on: Serial, ops: usize, steps: u64) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    // A tenth of the operations: each takes a hundred times as long as in the other loads.
    let ops = ops / 10;
    move || {
        Sample::time(ops as u64, || {
            on.run(async move {
                latch.expect(ops);
                for task in 0..ops {
                    let color = Color::new(FIRST_COLOR + (task % COLORS) as u64);
                    drop(colored::spawn_colored(color, async move {
                        spin(steps);
                        latch.hit();
                    }));
                }
                latch.wait().await;
            });
        })
    }
}

fn spawns(on: Serial, ops: usize) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    move || {
        Sample::time(ops as u64, || {
            on.run(async move {
                latch.expect(ops);
                for _ in 0..ops {
                    drop(colored::spawn_unique(async { latch.hit() }));
                }
                latch.wait().await;
            });
        })
    }
}

fn cells(on: Serial) -> &'static [ColorCell<u64>] {
    let cell = |index: usize| on.handle().cell(Color::new(FIRST_COLOR + index as u64), 1_000);
    Vec::leak((0..COLORS).map(cell).collect())
}

/// Different cells for each operation, the same in every run.
fn picks<const N: usize>(ops: usize) -> &'static [[usize; N]] {
    let mut random = Random::new(5);
    // The distance is less than a share of all, so that no two picks are the same.
    let mut pick = || {
        let first = random.below(COLORS);
        let mut at = 0;
        [(); N].map(|()| {
            let this = (first + at) % COLORS;
            at += 1 + random.below(COLORS / N - 1);
            this
        })
    };
    Vec::leak((0..ops).map(|_| pick()).collect())
}

fn transfers(on: Serial, ops: usize) -> impl FnMut() -> Sample {
    let (latch, cells, picks) = (Latch::leaked(), cells(on), picks::<2>(ops));
    move || {
        Sample::time(ops as u64, || {
            closed_loop(on.unique(), latch, CLIENTS, ops, move |share| async move {
                for &[from, to] in &picks[share] {
                    let both = (&cells[from], &cells[to]);
                    colored::when(both, |from, to| {
                        let moved = 1.min(*from);
                        *from -= moved;
                        *to += moved;
                    })
                    .await;
                }
            });
        })
    }
}

fn reads(on: Serial, ops: usize) -> impl FnMut() -> Sample {
    let (latch, cells, picks) = (Latch::leaked(), cells(on), picks::<4>(ops));
    move || {
        Sample::time(ops as u64, || {
            closed_loop(on.unique(), latch, CLIENTS, ops, move |share| async move {
                for pick in &picks[share] {
                    let [a, b, c, d] = pick.map(|index| cells[index].shared());
                    black_box(colored::when((a, b, c, d), |a, b, c, d| *a + *b + *c + *d).await);
                }
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_double_up_to_all_cores() {
        assert_eq!(worker_counts(1), [1]);
        assert_eq!(worker_counts(2), [1, 2]);
        assert_eq!(worker_counts(6), [1, 2, 4, 6]);
    }

    #[test]
    fn picks_are_all_different() {
        for pick in picks::<4>(1_000) {
            let mut sorted = *pick;
            sorted.sort_unstable();
            assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "{pick:?}");
        }
    }
}
