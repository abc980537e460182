//! The end of a lane, to which no reference is left; and the spare lanes that are kept for the next fresh color.
//!
//! Every task of a fresh color makes and retires a lane, often on different workers. A lane owns the scheduler, so making
//! a new one would bounce that reference count between the cores.

#[cfg(all(test, not(colored_loom)))]
mod tests;

use super::Scheduler;
use super::local::Local;
use crate::hooks::workers as hooks;
use crate::kernel::color::Color;
use crate::kernel::lane::refs::Last;
use crate::kernel::lane::{GivenBack, Lane, LanePtr};

impl Scheduler {
    /// Gives back references that were the last when the caller looked. If they still are the last,
    /// frees the lane, or has its values dropped first. `own` is the worker of this scheduler that this thread is.
    ///
    /// # Safety
    ///
    /// The caller owns the references and does not use the lane afterwards.
    #[inline]
    pub(super) unsafe fn release(&self, lane: LanePtr, refs: usize, own: Option<&Local>) {
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
            Some(Last::Gone(lane)) => self.recycle(lane, own),
            Some(Last::Kept(lane)) => hooks::color_ends(lane),
        }
    }

    /// The lane has no reference, and is not in the table: the worker keeps it for another color, or this frees it.
    #[inline]
    fn recycle(&self, lane: LanePtr, own: Option<&Local>) {
        // SAFETY: `Last::Gone` names a lane without references, so no thread uses it; every lane that is counted is
        // from `from_box`.
        let mut lane = unsafe { lane.into_box() };
        hooks::retires(self, &mut lane);
        match own {
            Some(own) => own.keep_spare(lane),
            None => drop(lane),
        }
    }

    /// Takes one spare lane and renews it, for threads that keep none.
    pub(super) fn take_spare(&self, color: Color) -> Option<Box<Lane>> {
        Some(renew(self.spare_lanes.pop()?, color))
    }

    /// Drops the spare lanes when a worker stops: lanes own the scheduler, so none may stay in it.
    pub(super) fn drop_spare_lanes(&self) {
        drop(self.spare_lanes.close());
    }
}

impl Local {
    /// Takes a spare lane, and renews it.
    #[inline]
    pub(super) fn take_spare(&self, color: Color) -> Option<Box<Lane>> {
        let lane = self.spare_lanes.pop(&self.scheduler().spare_lanes)?;
        Some(renew(lane, color))
    }

    /// Keeps a lane for `take_spare`, if this worker reuses lanes and there is room.
    #[inline]
    pub(super) fn keep_spare(&self, lane: Box<Lane>) {
        if self.reuses {
            self.spare_lanes.push(lane, &self.scheduler().spare_lanes, drop);
        }
    }
}

fn renew(mut lane: Box<Lane>, color: Color) -> Box<Lane> {
    lane.renew(color);
    lane
}
