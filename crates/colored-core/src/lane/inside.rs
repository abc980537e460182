//! The section whose future this thread polls.

use crate::sync::thread_slot;
use std::cell::Cell;
use std::panic::Location;

/// The innermost section that a wait is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    /// Where it was made.
    pub(crate) site: &'static Location<'static>,
    /// What the recorder of waits knows it by; 0 if it does not know it yet.
    pub(crate) key: u64,
}

thread_slot!(static INSIDE: Cell<Option<Inside>> = Cell::new(None));

/// `None` outside the future of a section.
pub(crate) fn get() -> Option<Inside> {
    INSIDE.with(Cell::get)
}

/// Changes what this thread is inside of, and returns what it was.
pub(crate) fn replace(inside: Option<Inside>) -> Option<Inside> {
    INSIDE.with(|place| place.replace(inside))
}
