//! [`Last`]: the end of a lane's last reference.

use crate::kernel::lane::base::{Held, LanePtr};
use crate::kernel::lane::refs::LaneRef;

/// The end of a lane's last reference.
pub(crate) enum Last {
    /// The lane can be freed.
    Gone(LanePtr),
    /// The color has values: this is the lane's last reference again, for the end of these ([`locals`](crate::ext::locals)).
    Kept(LaneRef),
}

impl Last {
    /// # Safety
    ///
    /// The lane is unreferenced, and no thread finds it before this returns.
    pub(crate) unsafe fn of(ptr: LanePtr) -> Self {
        // SAFETY: the caller frees the lane only after this, so it is alive. An unreferenced lane is idle, and the
        // caller promises that no thread finds it: so this thread has it as a holder has.
        let lane = unsafe { Held::new(ptr) };
        if !lane.has_locals() {
            return Self::Gone(ptr);
        }
        lane.refs.revive();
        Self::Kept(LaneRef(ptr))
    }
}
