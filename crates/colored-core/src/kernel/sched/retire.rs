//! The end of a lane: no reference to it is left.

#[cfg(all(test, not(colored_loom)))]
mod tests;

use super::{Scheduler, local};
use crate::hooks::workers as hooks;
use crate::kernel::lane::last::Last;
use crate::kernel::lane::{GivenBack, LanePtr};

impl Scheduler {
    /// Gives back references that were the last when the caller looked. If they still are the last,
    /// frees the lane, or has its values dropped first.
    ///
    /// # Safety
    ///
    /// The caller owns the references and does not use the lane afterwards.
    pub(super) unsafe fn release(&self, lane: LanePtr, refs: usize) {
        // SAFETY: the caller promises that it owns the references and does not use the lane
        // afterwards.
        let last = match unsafe { lane.release_unpublished(refs) } {
            GivenBack::NotLast => None,
            // SAFETY: the lane is unreferenced, and not in the table, so no thread finds it.
            GivenBack::Last => Some(unsafe { Last::of(lane) }),
            // SAFETY: the answer `Published` says that no reference has been given back, so all are
            // still the caller's.
            GivenBack::Published => unsafe { self.table.release(lane, refs) },
        };
        match last {
            None => {}
            Some(Last::Gone(lane)) => self.recycle(lane),
            Some(Last::Kept(lane)) => hooks::color_ends(lane),
        }
    }

    /// The lane has no reference, and is not in the table: this thread keeps it for another color, or frees it.
    fn recycle(&self, lane: LanePtr) {
        // SAFETY: `Last::Gone` names a lane without references, so no thread uses it; every lane that is counted is
        // from `from_box`.
        let mut lane = unsafe { lane.into_box() };
        hooks::retires(self, &mut lane);
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => local.keep_spare(lane),
            _ => drop(lane),
        });
    }
}
