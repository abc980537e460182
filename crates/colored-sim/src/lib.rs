//! Simulations of programs: schedules by seed, and the hosts that run under them, with their network and disks.
//!
//! Internal to `colored-rt`, whose module `sim` is the interface for users. That crate is above this one: it hands a simulation
//! the function that makes its [runtimes](sim::Runtime), and asks the [machine](colored_machine::Machine) of a runtime where it
//! would ask the system. A search knows no runtime: an actor is a number, and a run is a function of [`Choices`].
//!
//! | part | what it is |
//! |---|---|
//! | [`sim`] | runs: hosts with runtimes, turns that give way inside, failures and their reports |
//! | `world` | the hosts of a run as machines: clocks, the network, files |
//! | [`Strategy`] | how a seed chooses |
//! | [`Choices`] | the choices of one run, and those that differ from the default |
//! | [`Replay`] | these choices as a text |
//! | [`exhaust()`] | a run of each class of schedules |
//! | [`disk`] | files in memory, and what a power failure leaves of them |
//! | [`stacks`] | several stacks on a thread, for the turns that give way inside |
//! | [`loans`], [`wakes`] | what the runtime tells: values that are lent to a closure, wakes whose order tokio draws |
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
pub mod loans;
pub mod locals;
mod maker;
mod names;
mod replay;
mod script;
mod search;
mod shrink;
pub mod sim;
pub mod stacks;
mod strategy;
pub mod thread;
pub mod wakes;
mod wall;
mod world;

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
