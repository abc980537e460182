//! The waiting tasks of a lane: found and aborted at shutdown.

use crate::kernel::lane::base::Held;
use crate::kernel::lane::callback;
use crate::kernel::lane::refs::LaneRef;

impl LaneRef {
    /// Tells the lane to cancel the tasks that wait in it.
    pub(crate) fn close(&self) {
        let close = Close;
        callback::post(self, move || drop(close));
    }
}

/// Closes the lane when it is dropped: so a callback that is cancelled does it too.
struct Close;

impl Drop for Close {
    fn drop(&mut self) {
        Held::with_current(|lane| {
            let lane = lane.expect("a callback runs, and is dropped, under its lane");
            lane.abort_waiting();
            // The values are dropped behind these tasks.
            lane.end_locals();
        });
    }
}

impl Held<'_> {
    /// Marks all waiting tasks for cancellation, the oldest first: their turns come in that order. An abort may add nodes
    /// to the lane, but does not run it.
    #[cold]
    fn abort_waiting(self) {
        self.inner(|inner| inner.live.reverse());
        while let Some(task) = self.inner(|inner| inner.live.pop()) {
            task.abort();
        }
    }

    /// Called before the lane may become idle with tasks that wait: ensures that a shutdown finds them. The lane is in the table from then on. A shutdown that looked into the table before has set its flag
    /// before, and the table's lock makes the flag visible here.
    #[inline]
    pub(super) fn ensure_found(self, mut closing: bool) {
        if self.inner(|inner| inner.live.is_empty()) {
            return;
        }
        if !self.is_published() {
            self.publish(self.ptr());
            closing = self.is_closing();
        }
        if closing {
            self.abort_waiting();
        }
    }
}
