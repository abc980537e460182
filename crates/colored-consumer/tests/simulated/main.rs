//! The consumer in the simulator: every run has a schedule and a time of its own.
//!
//! `COLORED_SIM_SEEDS=100000 cargo test -p colored-rt-consumer --test simulated` runs more seeds.

mod engine;
mod outside;
mod scripted;
mod watched;
