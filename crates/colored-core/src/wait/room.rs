//! Waits for room in something that a number of holders share, for example a limit on the work of a color.
//!
//! Each holder may give room. So a wait for room ends when any of them goes on, and is part of a deadlock only if none
//! can. A crate above implements [`Room`]; the core knows only the answers of its methods.

use super::{Kind, Target, WaitSlot};
use crate::lane::{Address, LanePtr, current};
use crate::sync::{Arc, arc_dyn};
use crate::task::{Abort, Cause, Deadlock, How, Named, Record};
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::{self, NonNull};
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

/// A recorded wait for room. The queue of the room keeps it.
#[derive(Default)]
pub struct RoomWait {
    /// Dropped before the room, to which the record points.
    slot: WaitSlot,
    /// The room of the record. `None` before the first record.
    room: Option<Arc<dyn Room>>,
}

/// Which wait it is: the argument of [`Room::take_waker`].
#[derive(Clone, Copy, Debug)]
pub struct WaitId(NonNull<Record>);

impl WaitId {
    pub(crate) fn of(record: NonNull<Record>) -> Self {
        Self(record)
    }
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
        self.slot.record() == Some(wait.0)
    }
}

/// The functions for waits for room in an `R`.
struct KindOf<R>(PhantomData<R>);

impl<R: Room> KindOf<R> {
    /// The search wakes such a wait by [`Room::take_waker`].
    const KIND: &'static Kind = &Kind { target: Self::target, waker: |_| None };

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
