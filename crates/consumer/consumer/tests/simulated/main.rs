//! The consumer in the simulator: every run has a schedule and a time of its own.
//!
//! `COLORED_SIM_SEEDS=100000 cargo test -p colored-rt-consumer --test simulated` runs more seeds.

mod again;
mod altered;
#[path = "../altered/copies.rs"]
mod copies;
mod damage;
#[path = "../consumer/delegated.rs"]
mod delegated;
#[path = "../altered/directory.rs"]
mod directory;
mod engine;
#[path = "../altered/memory.rs"]
#[allow(dead_code, reason = "tests/consumer uses the rest")]
mod memory;
mod outside;
mod parallel;
mod scripted;
mod time;
mod watched;

/// The first so many seeds, of which the job `weekly` makes more. `COLORED_SIM_SEEDS` says how many instead.
fn seeds(usually: u64, weekly: u64) -> std::ops::Range<u64> {
    let is_long = std::env::var_os("COLORED_LONG_TESTS").is_some();
    0..if is_long { weekly } else { usually }
}
