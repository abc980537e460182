//! `stepped`: schedulers whose workers the test steps by hand, one file a subject. Here a case happens every time
//! that is a coincidence on real threads.
//!
//! No scheduler of this process has a flat queue: while there is one, every scheduler of the process announces each
//! task (`lane/ticket.rs`). Tests that make a flat queue belong to `flat`.
#![cfg(not(colored_loom))]
#![forbid(unsafe_code)]

mod batch;
mod clock;
mod doubles;
mod idle;
mod late_pinned;
mod one_order;
mod outside;
mod party;
mod ranks;
mod rounds;
mod stay;
mod stopping;
mod thrift;
mod turns;
mod two_schedulers;
mod wide;
