//! `stepped`: schedulers whose workers the test steps by hand, one file a subject. Here a case happens every time
//! that is a coincidence on real threads.
#![cfg(not(colored_loom))]
#![forbid(unsafe_code)]

mod at_rest;
mod batch;
mod classes;
mod clock;
mod default_color;
mod doubles;
mod drop_order;
mod dump;
mod hops;
mod idle;
mod late_pinned;
mod late_values;
mod leaks;
mod one_order;
mod outside;
mod panics;
mod policies;
mod read_batch;
mod room;
mod rounds;
mod shell;
mod spares;
mod stay;
mod steal_pause;
mod stopping;
mod taken_again;
mod turns;
mod two_schedulers;
mod waits;
mod wide;
