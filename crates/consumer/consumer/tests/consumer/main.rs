//! Consumers on the embedded engine.

mod altered;
mod bounds;
mod broken;
mod commits;
mod conformance;
#[path = "../altered/copies.rs"]
mod copies;
mod damage;
mod dashboard;
mod delegated;
#[cfg(feature = "diagnose")]
mod diagnosed;
mod engine;
mod failures;
mod frozen;
mod group;
mod killed;
mod late;
#[path = "../altered/memory.rs"]
#[allow(dead_code, reason = "tests/simulated uses the rest")]
mod memory;
mod order;
mod places;
mod support;
mod survey;
mod times;
