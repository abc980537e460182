//! A task that waits and keeps its lane.
//!
//! The node stays at the head, and no worker and no queue has the lane. In the exchange that ends the poll, the right
//! to run the lane goes with the right to move the node, to the thread that wakes the task (table in `task/state.rs`).
//! That thread dispatches the lane, whose first turn is the task's again. A node that is pushed meanwhile finds the
//! chain held, and waits behind.
//!
//! A shutdown cannot reach such a lane from behind, for the node that it pushes has no turn. So the task is registered
//! with the scheduler before it waits with its lane for the first time in a section. If the scheduler is shutting down
//! already, the task is aborted here.

pub(crate) mod inside;
pub(crate) mod port;

use crate::lane::LanePtr;
use crate::lane::current::Hold;
use crate::lane::held::Held;
use crate::lane::section::port::Closing;
use crate::task::{Kept, TaskRef};

impl LanePtr {
    /// Ends the poll of the head, which has an open section and is not ready. After [`Kept::Waiting`] this thread does
    /// not hold the lane any more.
    ///
    /// # Safety
    ///
    /// The caller holds the lane, and `task` is at its head and has been polled.
    #[cold]
    pub(in crate::lane) unsafe fn keep(self, task: TaskRef<LanePtr>, hold: &Hold) -> Kept {
        // SAFETY: the caller holds the lane, and the node at its head keeps it alive.
        let lane = unsafe { Held::new(self) };
        // This may be the end of the hold: the references taken must be counted before.
        if hold.owed() > 0 {
            lane.retain(hold.take_owed().unsigned_abs());
        }
        if !task.is_notified() {
            lane.announce(task);
        }
        // SAFETY: the caller promises that the lane is held, and that `task` is at its head and has been polled.
        let kept = unsafe { task.end_keeping() };
        match kept {
            Kept::Again => {}
            // This thread still holds the lane, and the task, which has no section left, is about to leave it.
            Kept::Over => lane.forget_section(),
            Kept::Waiting => {
                hold.has_ended();
                let owed = hold.take_owed();
                debug_assert!(owed <= 0, "what was taken has been counted");
                if owed < 0 {
                    // SAFETY: their owners gave these references to the holder, which gives them back here, once.
                    unsafe { self.release(owed.unsigned_abs()) };
                }
            }
        }
        kept
    }
}

impl Held<'_> {
    /// Has the scheduler remember `task`, which is at the head of this lane and has been polled.
    fn announce(self, task: TaskRef<LanePtr>) {
        if self.inner(|inner| inner.section.is_some()) {
            return;
        }
        match self.port.enter_section(task) {
            Ok(section) => self.inner(|inner| inner.section = Some(section)),
            Err(Closing) => task.abort(),
        }
    }

    /// The task at the head leaves the lane.
    #[cold]
    pub(in crate::lane) fn forget_section(self) {
        if let Some(section) = self.inner(|inner| inner.section.take()) {
            self.port.remove_section(section);
        }
    }
}
