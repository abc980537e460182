//! The end of a lane: nobody refers to it any more.

use super::Scheduler;
use crate::lane::LanePtr;
use crate::lane::locals::{self, Last};

impl Scheduler {
    /// Gives references back which were the last when the caller looked. If they still are, frees the
    /// lane, or has its values dropped first.
    ///
    /// # Safety
    ///
    /// The caller owns the references and does not use the lane afterwards.
    pub(super) unsafe fn release(&self, lane: LanePtr, refs: usize) {
        // SAFETY: the caller's references.
        let published = unsafe { lane.get() }.is_published();
        let last = if published {
            // SAFETY: by contract.
            unsafe { self.table.release(lane, refs) }
        } else {
            // SAFETY: by contract.
            unsafe { self.release_unpublished(lane, refs) }
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

    /// As `Table::release`, for a lane that is in no table: whoever could add a reference would have
    /// published it.
    ///
    /// # Safety
    ///
    /// As for `release`.
    unsafe fn release_unpublished(&self, lane: LanePtr, refs: usize) -> Option<Last> {
        // SAFETY: the caller's references.
        if !unsafe { lane.get() }.release_last(refs) {
            return None;
        }
        // A lane that is kept leaves the registry too: a shutdown that looked there while it had no
        // reference has passed it by. When tasks wait in it again, it is entered again, or finds the
        // registry closed.
        // SAFETY: unreferenced.
        unsafe { self.forget(lane) };
        // SAFETY: unreferenced, and in no list any more.
        Some(unsafe { Last::of(lane) })
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
