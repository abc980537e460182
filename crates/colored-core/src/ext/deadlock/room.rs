//! Waits for [room](Room), of crates above: their records, and the tasks that can give room.

use crate::kernel::lane::{LanePtr, current};
use crate::kernel::task::{Abort, Cause, Deadlock, How};
use crate::kernel::wait::{Called, Room, Target, WaitId, WaitKind, WaitSlot, Ways};
use crate::sync::{Arc, arc_dyn};
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr;

/// A recorded wait for room. The queue of the room keeps it.
#[derive(Default)]
pub struct RoomWait {
    /// Dropped before the room, to which the record points.
    slot: WaitSlot,
    /// The room of the record. `None` before the first record.
    room: Option<Arc<dyn Room>>,
}

impl RoomWait {
    /// Called first in each poll of the future that waits. Returns the error with which the wait has to end, if
    /// there is one.
    #[inline]
    pub fn begin_poll(&mut self) -> Option<Deadlock> {
        self.slot.begin_poll()
    }

    /// Records the wait. Called last in each poll of the future that waits. The task that this thread polls then has a record of
    /// the wait, until this value is dropped. Outside a task, the call does nothing.
    pub fn record_wait<R: Room>(
        &mut self,
        how: &'static How,
        site: &'static Location<'static>,
        room: &Arc<R>,
    ) {
        if !self.slot.is_here() {
            self.slot.end();
            self.room = Some(arc_dyn!(Arc::clone(room) => dyn Room));
        }
        let what = Arc::as_ptr(room).cast();
        let cause = || Cause { how, site, kind: KindOf::<R>::KIND, what, beside: ptr::null() };
        // SAFETY: the slot makes a record of this cause only if it has none of the task that this thread polls. Then
        // `self.room` owns the room to which the cause points; it is replaced only while the slot has no record, and
        // dropped after the slot.
        unsafe { self.slot.record_wait(cause) };
    }

    /// Whether it is this wait.
    #[must_use]
    pub fn is(&self, wait: WaitId) -> bool {
        self.slot.record().map(WaitId::of) == Some(wait)
    }
}

/// The functions for waits for room in an `R`.
struct KindOf<R>(PhantomData<R>);

impl<R: Room> KindOf<R> {
    /// The search wakes such a wait by [`Room::take_waker`].
    const KIND: &'static WaitKind = &WaitKind { target: Self::target, waker: |_| None };

    unsafe fn target(cause: &Cause) -> Option<Target> {
        let room: *const R = cause.what.cast();
        // SAFETY: `RoomWait::record_wait` made the pointer from an `Arc<R>`, and keeps a clone of the `Arc` beside the
        // record.
        unsafe { Arc::increment_strong_count(room) };
        // SAFETY: the line above has counted the reference that this line takes.
        let room = unsafe { Arc::from_raw(room) };
        Some(Target::Room(arc_dyn!(room => dyn Room)))
    }
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
