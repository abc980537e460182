//! Schedules by seed: which of several runnable *actors* is next, how a failing schedule is run again, and which of its
//! choices the failure needs.
//!
//! Internal to `colored-rt`, whose module `sim` is the interface for users. This crate knows no runtime: an actor is a
//! number, and a run is a function of [`Choices`]. Of the scheduler it knows what goes with a stack.
//!
//! | part | what it is |
//! |---|---|
//! | [`Strategy`] | how a seed chooses |
//! | [`Choices`] | the choices of one run, and those that differ from the default |
//! | [`Replay`] | these choices as a text |
//! | [`exhaust()`] | a run of each class of schedules |
//! | [`disk`] | files in memory, and what a power failure leaves of them |
//! | [`stacks`] | several stacks on a thread, for the turns that give way inside |
//! | [`thread`] | the clock and random numbers of a run, for the crate `colored-sim-libc` |
//! | [`search()`] | runs by seed, until one fails; then the failure is confirmed and shrunk |
//! | [`search_ahead()`] | the same by several threads, with the same result |
//! | [`locals`] | whether a thread shows a run what another one has left in thread-locals |
//! | [`Maker`] | a thread that makes runs for its caller, and may be given up |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod ahead;
mod choices;
mod classes;
pub mod disk;
mod exhaust;
pub mod locals;
mod maker;
mod names;
mod replay;
mod script;
mod search;
mod shrink;
pub mod stacks;
mod strategy;
pub mod thread;
mod wall;

pub use self::ahead::{Ahead, InOrder, search_ahead};
pub use self::choices::{Choices, Turn};
pub use self::exhaust::{Exhausted, Limits, exhaust};
pub use self::maker::{Lent, Maker, run_on_a_thread};
pub use self::names::StrategyError;
pub use self::replay::{Replay, ReplayError};
pub use self::search::{
    Asked, End, Failure, Found, Outcome, Plan, run_again, run_again_keeping, search,
};
pub use self::strategy::{Act, Strategy};
