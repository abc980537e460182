//! Lanes without a color, kept for the next fresh one.
//!
//! Every task of a fresh color makes and retires a lane, often on different workers. A lane owns the scheduler, so making
//! a new one would bounce that reference count between the cores.

use super::Scheduler;
use super::local::Local;
use crate::kernel::color::Color;
use crate::kernel::lane::Lane;

fn renew(mut lane: Box<Lane>, color: Color) -> Box<Lane> {
    lane.renew(color);
    lane
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

impl Scheduler {
    /// Takes one spare lane and renews it, for threads that keep none.
    pub(super) fn take_spare(&self, color: Color) -> Option<Box<Lane>> {
        Some(renew(self.spare_lanes.pop()?, color))
    }

    /// Drops the spare lanes when a worker stops: lanes own the scheduler, so none may stay in it.
    pub(super) fn drop_spare_lanes(&self) {
        drop(self.spare_lanes.close());
    }
}
