//! Limits on the work of a color, above the scheduler of the `colored` runtime.
//!
//! [`Limit`] is described there. This crate has no `unsafe` and names no operating system. Its
//! models (`src/model.rs`) run the code that ships in every interleaving of two or three threads,
//! with loom in place of `std`, as the models of `colored-core` do.
//!
//! # How it is built
//!
//! | module | purpose |
//! |---|---|
//! | `wait_queue` | a queue of waiters, which its owner keeps under a lock |
//! | `semaphore` | a counting semaphore: its state word, its wait queue, and the table of the items inside |
//! | `delay` | an estimate of how long items wait for their turn |
//! | `error` | the errors, which return the refused items |
//! | `limit` | [`Limit`], [`Permit`], [`LimitedCell`], and the futures that wait for room |
//!
//! The scheduler knows no limit. A limit uses the port of `colored-core`: it records each wait for
//! room in the waiting task, and implements `Room`, by which the search for deadlocks asks how
//! there can be room.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod delay;
mod error;
mod limit;
#[cfg(all(test, colored_loom))]
mod model;
mod semaphore;
mod wait_queue;

pub use self::error::{Closed, RoomError, TrySendError, TrySpawnError};
pub use self::limit::{CheckedReserve, Limit, LimitedCell, Permit, Post, Reserve, Spawn};
pub use self::wait_queue::{WaitQueue, WaiterId, WaiterState};
