//! The parts above the core that end before their runtime.

use super::handle::SchedulerHandle;
use super::scheduler::{Part, Scheduler};

impl Scheduler {
    /// Passes a part to the shell, which lets it end before the scheduler is shut down. A shell without
    /// [`Park::finish_first`](super::Park::finish_first) ends at once, and the accepted work is lost.
    pub fn finish_first(&self, part: Part) {
        self.park.finish_first(part);
    }
}

/// Tells the shell of the scheduler that this thread works for, if there is one, that work was refused
/// or shed because there is too much of it.
#[cold]
pub fn report_overload() {
    SchedulerHandle::with_current(|handle| {
        if let Some(handle) = handle {
            let scheduler = handle.scheduler();
            scheduler.park.overloaded(scheduler);
        }
    });
}
