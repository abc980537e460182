//! The records of the flight recorder, and the rings that keep them.
//!
//! A [`Ring`] belongs to one thread, which pushes a [`Record`] when something has ended; a [`SharedRing`] takes the
//! records of all threads that have no ring. Any thread may copy a ring at any time, without a lock and without delaying
//! the writer. Nothing here reads a clock: a record carries the time that its writer gives it.
//!
//! A ring is history only. No decision of the scheduler depends on it, so its atomics are the standard library's in the
//! models of the scheduler as well; `model/trace.rs` checks the same code with loom's.

mod code;
mod event;
mod ring;
mod shared;

pub use self::event::{Event, Record};
#[cfg(all(test, colored_loom))]
pub(crate) use self::ring::buffer;
pub use self::ring::{Copied, Ring};
pub use self::shared::SharedRing;

use crate::kernel::task::Id;

/// The task with this number ([`Id::get`]); none for 0. For readers of stored traces, and tests.
#[must_use]
pub fn task(number: u64) -> Option<Id> {
    Id::from_number(number)
}
