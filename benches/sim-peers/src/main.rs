//! Simulated turns and runs in a second of CPU time, beside shuttle's, alternated in one process.
//!
//! ```text
//! cargo run --release
//! cargo run --release -- short
//! ```
//!
//! | row | a run |
//! |---|---|
//! | counter | shuttle's bench of that name: 10 tasks add to a counter and yield, 1,000 times each |
//! | ping-pong | two tasks answer each other 5,000 times through channels |
//! | short | 10 tasks yield 20 times each: what a run costs beside its turns |

mod ours;
mod theirs;

use colored_sim_cpu::alternate;

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

/// Measurements of each, alternated. The median counts.
const ROUNDS: usize = 9;

fn main() {
    println!(
        "| row | by | ours, turns a second | shuttle | ratio | ours, runs a second | shuttle |"
    );
    println!("|---|---|---|---|---|---|---|");
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |row: &Row| wanted.is_empty() || wanted.iter().any(|name| name == row.name);
    for row in ROWS.into_iter().filter(is_wanted) {
        for by in [By::Random, By::Pct] {
            let [ours, theirs] = alternate(
                ROUNDS,
                [&mut || (row.ours)(by, row.runs), &mut || (row.theirs)(by, row.runs)],
            );
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
