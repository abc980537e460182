//! Libraries of tokio in colored tasks: each wait ends, each task keeps its color, and what goes away is an error.
//!
//! `cargo test` builds the examples; `cargo test --test run` alone does not.

#[cfg(unix)]
mod debian;
mod examples;
mod support;
mod table;
