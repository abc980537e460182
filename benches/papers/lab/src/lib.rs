//! The schedulers of the papers that `colored` comes from, for comparison with its own.
//!
//! | module | content |
//! |---|---|
//! | [`places`] | other places for runnable lanes, and workers that do not steal: policies of the scheduler of `colored-core` |
//! | [`flat`] | an executor of its own, whose queues have an entry for every event, as libasync-smp had it |
//! | [`queues`] | one queue of events for all processors: kinds of queues and locks of staged middleware |
//!
//! Benches and tests use it. It is not published.

#![forbid(unsafe_code)]

pub mod flat;
pub mod places;
pub mod queues;

pub use self::flat::{Events, First, Flat, Idle, Queues};
pub use self::places::{Place, Places};
