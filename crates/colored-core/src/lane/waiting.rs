//! The waiting tasks of a lane: found and aborted at shutdown.

use crate::lane::{Closing, Inner, Lane, LanePtr};

impl Lane {
    /// Marks all waiting tasks for cancellation.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    pub(super) unsafe fn abort_waiting(&self) {
        let next = |inner: &mut Inner| {
            // SAFETY: the lane is held.
            unsafe { inner.live.pop() }
        };
        // SAFETY: the lane is held.
        while let Some(task) = unsafe { self.with_inner(next) } {
            // SAFETY: a task in the list is not complete, so the runtime's reference exists.
            unsafe { task.abort() };
        }
    }

    /// Called before the lane may become idle with tasks that wait: ensures that a shutdown finds
    /// them. A shutdown that began before a published lane was in the table is seen here; one that
    /// begins later looks into the table.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    #[inline]
    pub(super) unsafe fn track(&self, lane: LanePtr, closing: bool) {
        // SAFETY: the lane is held.
        let (waiting, tracked) =
            unsafe { self.with_inner(|inner| (!inner.live.is_empty(), inner.track.is_some())) };
        if !waiting || (tracked && !closing) {
            return;
        }
        if self.is_published() || tracked {
            if closing {
                // SAFETY: the lane is held.
                unsafe { self.abort_waiting() };
            }
            return;
        }
        match self.port.track(lane) {
            Ok(track) => {
                // SAFETY: the lane is held.
                unsafe { self.with_inner(|inner| inner.track = Some(track)) };
            }
            // SAFETY: the lane is held.
            Err(Closing) => unsafe { self.abort_waiting() },
        }
    }
}
