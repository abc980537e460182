//! Runs `httpd` as a user would, with each way to its files.

#![cfg(unix)]
#![allow(dead_code, reason = "the support is that of all programs")]

mod httpd;
mod httpd_colors;
#[path = "../../../../../examples/tests/run/support.rs"]
mod support;
