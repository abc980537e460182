//! Stages and admission, above the scheduler of the `colored` runtime.
//!
//! `colored::stage` and `colored::admission` describe them for users. This crate has no `unsafe`.
//!
//! # How it is built
//!
//! | module | purpose |
//! |---|---|
//! | [`stage`] | handlers with a bounded queue each: the partitions, their tasks, batches, graphs |
//! | [`admission`] | refuses work that would begin too late: the controller in virtual time, and its clock and lock |
//! | `wall` | the clock that both read: the system's, or a simulation's ([`follow_simulations`]) |
//!
//! The scheduler knows neither. A stage spawns a task for each partition, and gives itself to the
//! shell as a part that ends before the runtime (`colored_core::port::Finish`). An admission tells the
//! shell of each refusal, so that the shell can keep its records (`colored_core::port::report_overload`).

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod admission;
pub mod stage;
mod wall;

pub use self::wall::follow_simulations;
