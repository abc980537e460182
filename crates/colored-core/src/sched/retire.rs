//! The end of a lane: nobody refers to it any more.

use super::Scheduler;
use crate::lane::locals::{self, Last};
use crate::lane::{GivenBack, LanePtr};

impl Scheduler {
    /// Gives references back which were the last when the caller looked. If they still are, frees the
    /// lane, or has its values dropped first.
    ///
    /// # Safety
    ///
    /// The caller owns the references and does not use the lane afterwards.
    pub(super) unsafe fn release(&self, lane: LanePtr, refs: usize) {
        // SAFETY: the caller's references.
        let last = match unsafe { lane.release_unpublished(refs) } {
            GivenBack::NotLast => None,
            GivenBack::Last => {
                // A lane that is kept leaves the registry too: a shutdown that looked there while it
                // had no reference has passed it by. When tasks wait in it again, it is entered again,
                // or finds the registry closed.
                // SAFETY: unreferenced, and not freed yet.
                unsafe { self.forget(lane) };
                // SAFETY: unreferenced, and in no list any more.
                Some(unsafe { Last::of(lane) })
            }
            // SAFETY: the caller's references still.
            GivenBack::Published => unsafe { self.table.release(lane, refs) },
        };
        match last {
            None => {}
            Some(Last::Gone(lane)) => {
                // SAFETY: out of the table, but not freed yet.
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
        // SAFETY: by contract.
        let lane = unsafe { lane.get() };
        // SAFETY: by contract.
        if let Some(track) = unsafe { lane.untrack() } {
            self.registry.remove(track);
        }
    }
}
