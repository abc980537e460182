//! Simulated turns and runs in a second, beside shuttle's, alternated in one process.
//!
//! ```text
//! cargo run --release
//! ```
//!
//! | row | a run |
//! |---|---|
//! | counter | shuttle's bench of that name: 10 tasks add to a counter and yield, 1,000 times each |
//! | ping-pong | two tasks answer each other 5,000 times through channels |
//! | short | 10 tasks yield 20 times each: what a run costs beside its turns |

mod ours;
mod theirs;

use std::time::Instant;

/// How a scheduler chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Random,
    Pct,
}

/// Runs of a program in one measurement.
type Program = fn(By, u64);

struct Row {
    name: &'static str,
    /// Turns of one run.
    turns: u64,
    runs: u64,
    ours: Program,
    theirs: Program,
}

const ROWS: [Row; 3] = [
    Row { name: "counter", turns: 10_000, runs: 20, ours: ours::counter, theirs: theirs::counter },
    Row {
        name: "ping-pong",
        turns: 10_000,
        runs: 20,
        ours: ours::ping_pong,
        theirs: theirs::ping_pong,
    },
    Row { name: "short", turns: 200, runs: 1000, ours: ours::short, theirs: theirs::short },
];

/// Measurements of each, alternated. The best one counts.
const ROUNDS: usize = 9;

fn main() {
    println!(
        "| row | by | ours, turns a second | shuttle | ratio | ours, runs a second | shuttle |"
    );
    println!("|---|---|---|---|---|---|---|");
    for row in ROWS {
        for by in [By::Random, By::Pct] {
            let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
            for _ in 0..ROUNDS {
                ours = ours.min(seconds(row.ours, by, row.runs));
                theirs = theirs.min(seconds(row.theirs, by, row.runs));
            }
            let runs = |seconds: f64| row.runs as f64 / seconds;
            let turns = |seconds: f64| runs(seconds) * row.turns as f64 / 1e6;
            println!(
                "| {} | {by:?} | {:.2} M | {:.2} M | {:.2} | {:.0} | {:.0} |",
                row.name,
                turns(ours),
                turns(theirs),
                theirs / ours,
                runs(ours),
                runs(theirs),
            );
        }
    }
}

fn seconds(program: Program, by: By, runs: u64) -> f64 {
    let begin = Instant::now();
    program(by, runs);
    begin.elapsed().as_secs_f64()
}
