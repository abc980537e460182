//! The section whose future this thread polls.

use crate::lane::{LanePtr, current};
use crate::sync::thread_slot;
use crate::task::{Record, TaskRef};
use std::cell::Cell;
use std::panic::Location;
use std::ptr::NonNull;

/// The innermost section that a wait is in.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    /// Whose section it is.
    pub(crate) task: TaskRef<LanePtr>,
    /// Where it was made.
    pub(crate) site: &'static Location<'static>,
    /// Its record in the task.
    pub(crate) record: Option<NonNull<Record>>,
}

thread_slot!(static INSIDE: Cell<Option<Inside>> = Cell::new(None));

/// `None` outside the future of a section. A task that is polled inside another one's section, as by a
/// worker that is stepped there, is in none.
#[inline]
pub(crate) fn get() -> Option<Inside> {
    let inside = INSIDE.with(Cell::get)?;
    (current::task() == Some(inside.task)).then_some(inside)
}

/// Changes what this thread is inside of, and returns what it was.
pub(crate) fn replace(inside: Option<Inside>) -> Option<Inside> {
    INSIDE.with(|place| place.replace(inside))
}
