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

// The unit tests in the files of `raft-sim`: cargo builds an example as a program or as a test, and the tests above need the
// program.
#[allow(dead_code, reason = "its users are in the example")]
#[path = "../../examples/raft-sim/history.rs"]
mod history;
#[allow(dead_code, reason = "its users are in the example")]
#[path = "../../examples/raft-sim/message.rs"]
mod message;
#[allow(dead_code, reason = "its users are in the example")]
#[path = "../../examples/raft-sim/wire.rs"]
mod wire;
