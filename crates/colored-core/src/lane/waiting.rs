//! The waiting tasks of a lane: found and aborted at shutdown.

use crate::lane::{Inner, Lane, LanePtr};

impl Lane {
    /// Marks all waiting tasks for cancellation.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    pub(super) unsafe fn abort_waiting(&self) {
        let next = |inner: &mut Inner| {
            // SAFETY: the caller of `abort_waiting` holds the lane, whose list this is.
            unsafe { inner.live.pop() }
        };
        // SAFETY: the caller promises that it holds the lane; an abort may add nodes to it, but does not run it.
        while let Some(task) = unsafe { self.with_inner(next) } {
            // SAFETY: a task in the list is not complete, so the runtime's reference exists.
            unsafe { task.abort() };
        }
    }

    /// Called before the lane may become idle with tasks that wait: ensures that a shutdown finds them. The lane is in
    /// the table from then on. A shutdown that looked into the table before has set its flag before, and the table's
    /// lock makes the flag visible here.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    #[inline]
    pub(super) unsafe fn ensure_found(&self, lane: LanePtr, mut closing: bool) {
        // SAFETY: the caller promises that it holds the lane.
        if !unsafe { self.with_inner(|inner| !inner.live.is_empty()) } {
            return;
        }
        if !self.is_published() {
            self.publish(lane);
            closing = self.port.is_closing();
        }
        if closing {
            // SAFETY: the caller still holds the lane: `publish` gives nothing away.
            unsafe { self.abort_waiting() };
        }
    }
}
