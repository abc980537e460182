//! [`Finish`]: the parts above the core that end before their runtime.

use super::{Scheduler, SchedulerHandle};
use std::pin::Pin;

/// A part above the core that has accepted work. The end of a runtime lets it do that work.
pub trait Finish: Send + Sync {
    /// Closes it: it accepts no more work.
    fn close(&self);

    /// Waits until it is closed, and all work that it has accepted is done.
    fn drained(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// The number of accepted items that are not done.
    fn left(&self) -> u64;
}

/// A reference that does not keep the part.
pub type Part = std::sync::Weak<dyn Finish>;

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
