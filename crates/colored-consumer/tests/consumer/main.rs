//! Consumers on the embedded engine.

mod bounds;
mod broken;
mod commits;
mod conformance;
#[path = "../altered/copies.rs"]
mod copies;
mod damage;
#[cfg(feature = "diagnose")]
mod diagnosed;
mod engine;
mod failures;
mod frozen;
mod group;
mod killed;
mod order;
mod support;
