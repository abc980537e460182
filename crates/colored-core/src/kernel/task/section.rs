//! An open section of a task: for as long as it is there, the task keeps its lane.

use super::Schedule;
use super::header::{self, Header, TaskRef};
use super::state::MOST_SECTIONS;
use std::fmt;
use std::ptr::NonNull;

/// A reference to a task that keeps its lane. Dropped anywhere, it ends the section.
pub(crate) struct Section<S: Schedule>(NonNull<Header<S>>);

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
    ///
    /// # Safety
    ///
    /// The caller is inside a poll of `task`.
    pub(crate) unsafe fn enter(task: TaskRef<S>) -> Result<Self, TooMany> {
        // SAFETY: the caller polls the task, so the runtime's reference keeps it alive.
        let entered = unsafe { task.0.as_ref() }.state.enter_section();
        if entered { Ok(Self(task.0)) } else { Err(TooMany) }
    }

    /// The task. It is alive as long as this section.
    pub(crate) fn task(&self) -> TaskRef<S> {
        TaskRef(self.0)
    }
}

impl<S: Schedule> Drop for Section<S> {
    fn drop(&mut self) {
        // SAFETY: this section's reference keeps the task alive up to this transition.
        let woken = unsafe { self.0.as_ref() }.state.leave_section();
        // SAFETY: `woken` is the answer of this task's own transition.
        unsafe { header::act(self.0, woken) };
    }
}
