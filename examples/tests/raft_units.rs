//! The unit tests in the files of `raft-sim`. Cargo builds an example as a program or as a test, and
//! `run` needs the program.

#![allow(dead_code, reason = "a module's users may be outside")]

#[path = "../examples/raft-sim/history.rs"]
mod history;
#[path = "../examples/raft-sim/message.rs"]
mod message;
#[path = "../examples/raft-sim/wire.rs"]
mod wire;
