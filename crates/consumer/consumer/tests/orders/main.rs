//! Runs the example `orders` as a newcomer would, and checks its output.

#![allow(dead_code, reason = "the support is that of all programs")]

mod orders;
#[path = "../../../../../examples/tests/run/support.rs"]
mod support;
