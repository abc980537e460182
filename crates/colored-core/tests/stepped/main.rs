//! `stepped`: schedulers whose workers the test steps by hand, one file a subject. What takes real threads a
//! coincidence happens here each time.
//!
//! No scheduler of this process has a flat queue: while there is one, every scheduler of the process announces each
//! task (`lane/ticket.rs`). Tests that make one belong to `flat`.
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
