//! Runs each example as a newcomer would, and checks its output.
//!
//! `cargo test` builds the examples; `cargo test --test run` alone does not.

mod bank;
mod counter;
mod echo;
mod http;
#[cfg(unix)]
mod httpd;
mod kv;
mod pipeline;
mod proxy;
mod rooms;
mod support;
