//! The seam of queues: what a scheduler asks of the queues that it has beside its own.

use crate::kernel::lane::base::ReadyLane;

pub(crate) use crate::ext::priority::classes::Classes;

/// Queues of lanes that a scheduler has beside its own: [`Classes`].
pub(crate) trait OtherQueues {
    /// Whether a lane is queued that a worker may take: from its own and the shared queues, or, if workers steal, from all
    /// queues.
    fn has_work_for(&self, worker: usize, steals: bool) -> bool;

    /// Whether no lane is queued.
    fn is_empty(&self) -> bool;

    /// Takes any queued lane.
    fn any_ready(&self) -> Option<ReadyLane>;

    /// Moves the lanes of a worker's queues to the shared ones. Returns whether there were any.
    fn hand_over(&self, worker: usize) -> bool;

    /// Forgets which colors have a priority: the lanes that this keeps own the scheduler.
    fn forget(&self);
}
