//! An echo over hyper between two simulated hosts: a run is 1,000 requests on one connection. Beside turmoil's, alternated in
//! one process; the median of CPU times counts.
//!
//! ```text
//! cargo run --release -p colored-echo-peers
//! ```
//!
//! turmoil moves its time in ticks of 1 ms, in each of which it runs all hosts, and by default a message takes up to 100 ms.
//! Ours take 0.5 ms, and time moves to the next of them. So turmoil has a row with messages of 0.5 ms, and one with messages
//! that take no time, which is the least that it can have to do.

mod http;
mod ours;
mod theirs;

use colored_sim_cpu::alternate;

/// Measurements of each, alternated.
const ROUNDS: usize = 5;

/// Runs of a measurement, of a seed each: all strategies of the portfolio.
const RUNS: u64 = 8;

fn main() {
    let latency = |least: u64, most: u64| least..=most;
    let [ours, default, equal, quick] = alternate(
        ROUNDS,
        [
            &mut || ours::run(RUNS),
            &mut || theirs::run(RUNS, latency(0, 100_000)),
            &mut || theirs::run(RUNS, latency(500, 500)),
            &mut || theirs::run(RUNS, latency(0, 0)),
        ],
    );
    println!(
        "| {} requests | runs a second | CPU time of ours: 1 |\n|---|---|---|",
        http::REQUESTS
    );
    let rows = [
        ("ours, 1 to 16 workers, the portfolio", ours),
        ("turmoil, its defaults", default),
        ("turmoil, a message takes 0.5 ms", equal),
        ("turmoil, a message takes no time", quick),
    ];
    for (name, seconds) in rows {
        println!("| {name} | {:.1} | {:.2} |", RUNS as f64 / seconds, seconds / ours);
    }
}
