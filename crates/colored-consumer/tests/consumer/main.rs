//! Consumers on the embedded engine.

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
mod order;
mod support;
