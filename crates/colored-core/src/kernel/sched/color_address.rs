//! The colors of a scheduler, as [`Address`]es.

use super::{Scheduler, SchedulerHandle, guest};
use crate::kernel::color::Color;
use crate::kernel::join::JoinHandle;
use crate::kernel::lane::Address;
use std::panic::Location;

impl Address {
    /// A color in the runtime of `handle`.
    #[must_use]
    pub fn new(handle: &SchedulerHandle, color: Color) -> Self {
        Self::of(handle.lane(color))
    }

    /// The color under which [`spawn_local`](crate::spawn_local) spawns here; `None` where it does not.
    #[must_use]
    pub fn local() -> Option<Self> {
        guest::local_lane().map(Self::of)
    }

    /// Spawns a task under the color, without a look-up of the color.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (lane, origin) = (self.lane(), Location::caller().into());
        let scheduler = Scheduler::of(lane).expect("its lane is of a scheduler");
        scheduler.spawn(lane.for_node(), future, origin, false)
    }
}
