//! An open section of a task: for as long as it is there, the task keeps its lane.

use super::Schedule;
use super::header::TaskRef;
use super::state::{MOST_SECTIONS, State};
use super::turn::PolledTask;
use std::fmt;

/// A reference to a task that keeps its lane. Dropped anywhere, it ends the section.
pub(crate) struct Section<S: Schedule>(TaskRef<S>);

// SAFETY: only atomic operations can be reached. The drop may schedule the task, as a wake does, or
// free it, as an `Abort` does.
unsafe impl<S: Schedule> Send for Section<S> {}
// SAFETY: a shared reference reaches only the state word, which is atomic, and fields that never
// change.
unsafe impl<S: Schedule> Sync for Section<S> {}

/// The task has as many open sections as can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a task has at most {MOST_SECTIONS} sections at once")
    }
}

impl<S: Schedule> Section<S> {
    /// Opens a section of the task that this thread polls.
    pub(crate) fn enter(task: &PolledTask<'_, S>) -> Result<Self, TooMany> {
        let task = task.task();
        if task.header().state.enter_section() { Ok(Self(task)) } else { Err(TooMany) }
    }

    /// The task. It is alive as long as this section.
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.0
    }
}

impl<S: Schedule> Drop for Section<S> {
    fn drop(&mut self) {
        self.0.change(State::leave_section);
    }
}
