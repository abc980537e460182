//! Waits for room in something that a number of holders share, for example a limit on the work of a color.
//!
//! Each holder may give room. So a wait for room ends when any of them goes on, and is part of a deadlock only if none
//! can. A crate above implements [`Room`]; the core knows only the answers of its methods.

use crate::kernel::lane::{Address, LanePtr, current};
use crate::kernel::task::{Abort, Named, WaitRecord};
use std::ptr::NonNull;
use std::task::Waker;

/// Room for which tasks wait. The search for deadlocks calls the methods, on any thread.
pub trait Room: Send + Sync + 'static {
    /// The color of the room: the color by which the texts of errors name it.
    fn address(&self) -> &Address;

    /// The ways in which there can be room, if they are known for all holders.
    fn ways(&self) -> Option<Ways>;

    /// Takes the waker of this wait, if it still waits. The caller must wake it, because no other
    /// thread will.
    fn take_waker(&self, wait: WaitId) -> Option<Waker>;
}

/// Which wait it is: the argument of [`Room::take_waker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitId(NonNull<WaitRecord>);

impl WaitId {
    pub(crate) fn of(record: NonNull<WaitRecord>) -> Self {
        Self(record)
    }
}

/// The alternatives, of which one must go on before there is room.
#[derive(Debug)]
pub struct Ways {
    /// Whether some holders can go on only under the color of the room.
    pub by_color: bool,
    pub(crate) called: Vec<Called>,
}

impl Ways {
    /// Some holders can go on only under the color, if `by_color`; the others are tasks that have been given room, and
    /// have not used it yet. `None` if one of these tasks is complete: then another task polls the future that waited.
    pub fn new<'a>(
        by_color: bool,
        called: impl IntoIterator<Item = &'a WaitingTask>,
    ) -> Option<Self> {
        let called = called.into_iter().map(WaitingTask::called).collect::<Option<_>>()?;
        Some(Self { by_color, called })
    }
}

/// A task that has been given room, and has to run before it uses the room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    pub(crate) task: Named,
    /// The lane on which it runs next.
    pub(crate) lane: LanePtr,
}

/// A task that waits for room, or has been given room. To be dropped outside all locks: the task may be dropped with
/// it.
pub struct WaitingTask(Abort<LanePtr>);

impl WaitingTask {
    /// The task that this thread polls.
    #[must_use]
    pub fn current() -> Option<Self> {
        current::abort_handle().map(Self)
    }

    fn called(&self) -> Option<Called> {
        let task = self.0.task();
        (!task.is_complete()).then(|| Called { task: task.named(), lane: task.lane() })
    }
}
