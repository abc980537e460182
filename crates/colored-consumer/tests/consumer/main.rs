//! Consumers on the embedded engine.

mod altered;
mod bounds;
mod broken;
mod commits;
mod conformance;
mod damage;
#[cfg(feature = "diagnose")]
mod diagnosed;
mod engine;
mod failures;
#[path = "../altered/files.rs"]
mod files;
mod frozen;
mod group;
mod killed;
#[path = "../altered/memory.rs"]
#[allow(dead_code, reason = "tests/simulated uses the rest")]
mod memory;
mod order;
mod support;
