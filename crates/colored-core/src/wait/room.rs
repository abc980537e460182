//! Waiting for room under a limit, which any item inside may release.

use crate::lane::{LanePtr, current};
use crate::task::{Abort, Named, Record};
use std::ptr::NonNull;
use std::task::Waker;

/// Room for which a task waits.
pub(crate) trait Room: Send + Sync {
    /// The ways in which there can be room, if they are known for all items inside.
    fn ways(&self) -> Option<Ways>;

    /// The lane of the color.
    fn lane(&self) -> LanePtr;

    /// Takes the waker of the wait with this record, if it still waits. The caller must wake it,
    /// because no other thread will.
    fn take_waker(&self, record: NonNull<Record>) -> Option<Waker>;
}

/// The alternatives, of which one must go on before there is room.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// Some items are on the color of the limit.
    pub(crate) by_color: bool,
    /// Tasks that have been called, and have not used their permits yet.
    pub(crate) called: Vec<Called>,
}

/// A task that has been given a permit, and has to run before it uses the permit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    pub(crate) task: Named,
    /// The lane on which it runs next.
    pub(crate) lane: LanePtr,
}

/// A task that waits for room, or has been called.
pub(crate) struct Caller(Abort<LanePtr>);

impl Caller {
    /// The task that this thread polls.
    pub(crate) fn current() -> Option<Self> {
        current::abort_handle().map(Self)
    }

    /// The task that has to run before it uses its permit. `None` once the task is complete: then
    /// another task polls the future that waited.
    pub(crate) fn called(&self) -> Option<Called> {
        let task = self.0.task();
        (!task.is_complete()).then(|| Called { task: task.named(), lane: task.lane() })
    }
}
