//! Waiting for room, which comes by any of those who are inside.

use crate::lane::{LanePtr, current};
use crate::task::{Abort, Named, Record};
use std::ptr::NonNull;
use std::task::Waker;

/// Room for which somebody waits.
pub(crate) trait Room: Send + Sync {
    /// By what it comes, if that is known of all who are inside.
    fn ways(&self) -> Option<Ways>;

    /// The lane of the color.
    fn lane(&self) -> LanePtr;

    /// The waker of the wait with this record, if it still waits. To be woken: nobody else will.
    fn take_waker(&self, record: NonNull<Record>) -> Option<Waker>;
}

/// What has to go on before there is room: any of these.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// The color: some are at home there.
    pub(crate) by_color: bool,
    /// Those who have been called, and have not used their permits yet.
    pub(crate) called: Vec<Called>,
}

/// A task that has to run before the permit is used that it was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    pub(crate) task: Named,
    /// Where it runs next.
    pub(crate) lane: LanePtr,
}

/// A task that waits for room, or has been called.
pub(crate) struct Caller(Abort<LanePtr>);

impl Caller {
    /// The task that this thread polls.
    pub(crate) fn current() -> Option<Self> {
        current::abort_handle().map(Self)
    }

    /// What has to happen before it uses its permit. Not known once it is complete: then somebody else
    /// polls the future that waited.
    pub(crate) fn called(&self) -> Option<Called> {
        let task = self.0.task();
        (!task.is_complete()).then(|| Called { task: task.named(), lane: task.lane() })
    }
}
