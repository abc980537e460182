//! The end of a lane: no reference to it is left.

use super::Scheduler;
use crate::lane::locals::{self, Last};
use crate::lane::{GivenBack, LanePtr};

impl Scheduler {
    /// Gives back references that were the last when the caller looked. If they still are the last,
    /// frees the lane, or has its values dropped first.
    ///
    /// # Safety
    ///
    /// The caller owns the references and does not use the lane afterwards.
    pub(super) unsafe fn release(&self, lane: LanePtr, refs: usize) {
        // SAFETY: the caller owns the references.
        let last = match unsafe { lane.release_unpublished(refs) } {
            GivenBack::NotLast => None,
            GivenBack::Last => {
                // A lane that is kept leaves the registry too: a shutdown that looked there while the
                // lane had no reference has skipped it. When tasks wait in it again, it is entered
                // again, or finds the registry closed.
                // SAFETY: the lane is unreferenced, and not freed yet.
                unsafe { self.forget(lane) };
                // SAFETY: the lane is unreferenced, and in no list any more.
                Some(unsafe { Last::of(lane) })
            }
            // SAFETY: the references are still the caller's.
            GivenBack::Published => unsafe { self.table.release(lane, refs) },
        };
        match last {
            None => {}
            Some(Last::Gone(lane)) => {
                // SAFETY: the lane is out of the table, but not freed yet.
                unsafe { self.forget(lane) };
                self.recycle(lane);
            }
            Some(Last::Kept(lane)) => locals::end(lane),
        }
    }

    /// Takes a lane out of the registry, if it is there.
    ///
    /// # Safety
    ///
    /// The lane is unreferenced and not freed yet.
    unsafe fn forget(&self, lane: LanePtr) {
        // SAFETY: by contract the lane is unreferenced, and not freed yet.
        let lane = unsafe { lane.get() };
        // SAFETY: by contract the lane is unreferenced, and not freed yet.
        if let Some(track) = unsafe { lane.untrack() } {
            self.registry.remove(track);
        }
    }
}
