//! Runs each example as a newcomer would, and checks its output.
//!
//! `cargo test` builds the examples; `cargo test --test run` alone does not.

mod axum_app;
#[expect(dead_code, reason = "the tests of the other examples use the rest")]
#[path = "../../../tests/run/support.rs"]
mod support;
mod websocket_rooms;
