//! [`Runner`]: the thread that runs a slice, and what turns weigh.

use crate::hooks::SliceListener;
use crate::kernel::lane::base::ReadyLane;
use crate::kernel::task::Named;

/// The thread that runs a slice.
pub(crate) trait Runner {
    /// Whether it may run a node that is pinned to `pin` (0: pinned to no thread).
    fn may_run(&self, pin: u32) -> bool;
    /// Whether everything is to be cancelled.
    fn is_closing(&self) -> bool;
    /// A turn begins, of this task or of something else.
    fn begin_turn(&self, _task: Option<Named>) {}
    /// One turn of that weight is over; returns whether the slice goes on.
    fn count_turn(&mut self, weight: i64) -> bool;
    /// The listener of the slice, the same for the whole slice. Without one the compiler leaves out all that is for it.
    #[inline(always)]
    fn listener(&mut self) -> Option<&mut dyn SliceListener> {
        None
    }
}

/// The share of a slice that a poll takes, or whatever else takes as long.
pub(crate) const POLL_WEIGHT: i64 = 64;

/// The share of a slice that the closure of a post or a call takes. A task that posts in each of its polls fills the time
/// of a slice, and 4,096 short closures, the weight of 64 polls, fill it too. If a closure had the weight of a poll, a
/// line of posts would have turns of a few microseconds, the task that posts would have turns of 200, and the line would
/// grow.
pub(crate) const CLOSURE_WEIGHT: i64 = 1;

/// How a slice ended.
#[must_use]
#[derive(Debug)]
pub(crate) enum Slice {
    /// The lane is idle, or something has it: a task that waits, a behavior, or readers. The lane may be freed.
    Over,
    /// There is more to run.
    More(ReadyLane),
    /// The next node is pinned to another thread.
    Elsewhere(ReadyLane, u32),
}
