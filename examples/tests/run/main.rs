//! Runs each example as a newcomer would, and checks its output.
//!
//! `cargo test` builds the examples; `cargo test --test run` alone does not.

mod bank;
mod calculator;
mod counter;
mod faults;
mod game_world;
#[cfg(unix)]
mod graceful_shutdown;
mod kv;
mod pipeline;
mod proxy;
mod raft_sim;
mod support;
