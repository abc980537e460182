//! The section whose future this thread polls.

use crate::kernel::lane::base::LanePtr;
use crate::kernel::lane::current;
use crate::kernel::task::{TaskRef, WaitRecord};
use crate::sync::thread_slot;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::NonNull;

/// The innermost section that a wait is in.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    /// The task whose section it is.
    pub(crate) task: TaskRef<LanePtr>,
    /// Where the section was made.
    pub(crate) site: &'static Location<'static>,
    /// Its record in the task.
    pub(crate) record: Option<NonNull<WaitRecord>>,
}

thread_slot!(static INSIDE: Cell<Option<Inside>> = Cell::new(None));

/// `None` outside the future of a section. A task that is polled inside another task's section, for example by a worker
/// that is stepped there, is in none.
#[inline]
pub(crate) fn get() -> Option<Inside> {
    let inside = INSIDE.with(Cell::get)?;
    (current::task() == Some(inside.task)).then_some(inside)
}

/// Sets the section that this thread is inside, and returns the one before.
pub(crate) fn replace(inside: Option<Inside>) -> Option<Inside> {
    INSIDE.with(|place| place.replace(inside))
}
