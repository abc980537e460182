//! `flat`: the laboratory, and the end of schedulers with a flat queue, stepped by hand.
//!
//! While a scheduler with a flat queue lives, every scheduler of the process announces each task
//! (`lane/ticket.rs`). So these tests have a process of their own, and those of `stepped` take the usual way.
#![cfg(not(colored_loom))]
#![forbid(unsafe_code)]

mod counted;
#[allow(dead_code, reason = "`stepped` needs more of it")]
#[path = "../stepped/doubles.rs"]
mod doubles;
mod lab;
mod late_entries;
mod late_values;
mod leaks;
#[path = "../stepped/stopping.rs"]
mod stopping;
