//! Waits: each has a record while it lasts, and a search finds a cycle of waits once it has lasted.
//!
//! # Records
//!
//! A future that returns `Pending` inside a task has a record in that task (`task/wait_record.rs`), with or without
//! sections. It holds the target of the wait, its kind, its place in the source, and its start. The record belongs to
//! the task that polled the future last, and to the innermost section whose future was being polled.
//!
//! | the wait | its record points to | the target of the wait |
//! |---|---|---|
//! | a [`JoinHandle`](crate::JoinHandle) | the task | the task |
//! | a call, a read, a `when` over one color, the call of a pinned cell | the slot of its result | the color, until the closure begins |
//! | a `when` over several colors | its behavior | the colors that this lacks |
//! | a hop to a color where something is scheduled | nothing | the task's own color, from then on |
//! | room under a color, of a crate above | the room | the holders that can give room ([`room`]) |
//!
//! # Deadlocks
//!
//! A deadlock does not go away by itself. So a wait that begins is not checked. The [search for
//! deadlocks](crate::look_for_deadlocks) checks the waits inside sections that have lasted.

pub(crate) mod leaf;
pub(crate) mod room;

use self::room::{Room, WaitId};
use crate::kernel::lane::section::inside;
use crate::kernel::lane::{self, BehaviorRef, LanePtr, LaneRef, current};
use crate::kernel::task::{Abort, Cause, Deadlock, How, WaitRecord};
use crate::sync::{Arc, arc_dyn};
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::task::Waker;

/// The functions for all waits of one kind. They are called while the future cannot be dropped.
pub(crate) struct WaitKind {
    /// The target of the wait, kept alive; `None` if the wait is over.
    pub(crate) target: unsafe fn(&Cause) -> Option<Target>,
    /// The waker that the future has left, for the caller to wake later.
    pub(crate) waker: unsafe fn(&Cause) -> Option<Waker>,
}

/// The target of a wait.
pub(crate) enum Target {
    Task(Abort<LanePtr>),
    Lane(LaneRef),
    Behavior(BehaviorRef),
    Room(Arc<dyn Room>),
    /// The task's own lane.
    Own,
}

/// A recorded wait; dropping it ends the record.
pub(crate) struct Wait(NonNull<WaitRecord>);

// SAFETY: a record may be left on any thread; a poll of its task has the list to itself.
unsafe impl Send for Wait {}
// SAFETY: a shared reference reaches the word, which is atomic, and fields that never change; what changes the section
// is called by `WaitSlot::record_wait` only, which borrows the wait mutably.
unsafe impl Sync for Wait {}

impl Wait {
    /// Records a wait of the task that this thread polls, if it polls one.
    ///
    /// # Safety
    ///
    /// The cause's pointers fulfil the requirements of its kind until the wait is dropped.
    #[inline]
    pub(crate) unsafe fn begin(cause: Cause) -> Option<Self> {
        Self::insert(cause, false)
    }

    /// Records a section that has begun.
    pub(crate) fn section(site: &'static Location<'static>) -> Option<Self> {
        const HOW: &How = &How { text: "is in", is_shared: false };
        let nothing = ptr::null();
        Self::insert(Cause { how: HOW, site, kind: &(), what: nothing, beside: nothing }, true)
    }

    #[inline]
    fn insert(cause: Cause, is_section: bool) -> Option<Self> {
        current::with_polled(|task| {
            let (task, since) = (task?, lane::noted_time()?);
            let section = inside::get().and_then(|inside| inside.record);
            let owner = task.task().as_ptr().cast::<()>();
            let record = WaitRecord::allocate(owner, cause, section, since, is_section);
            Some(Self(task.insert_record(record)))
        })
    }

    pub(crate) fn record(&self) -> NonNull<WaitRecord> {
        self.0
    }

    fn get(&self) -> &WaitRecord {
        // SAFETY: the record lives until its future removes or leaves it, which is the drop of this wait.
        unsafe { self.0.as_ref() }
    }

    /// Whether this thread polls the task that has the record in its list.
    #[inline]
    fn is_here(&self) -> bool {
        current::task().is_some_and(|task| self.get().is_of(task.as_ptr().cast()))
    }

    /// Notes that the future was polled again in its task and is not ready: the wait is in the section that is polled
    /// now.
    #[inline]
    fn record_poll(&self) {
        let section = inside::get().and_then(|inside| inside.record);
        // SAFETY: `WaitSlot::record_wait` has found that this thread polls the task of the record.
        unsafe { self.get().set_section(section) };
    }
}

impl Drop for Wait {
    #[inline]
    fn drop(&mut self) {
        current::with_polled(|task| match task.filter(|_| self.is_here()) {
            // SAFETY: `is_here` says that the record is in the list of the task; this wait does not use it again.
            Some(task) => unsafe { task.remove_record(self.0) },
            // SAFETY: this wait is the future's half of the record, and does not use it again.
            None => unsafe { WaitRecord::leave(self.0) },
        });
    }
}

/// The place in a future for the record of its wait. It must be dropped before the values to which the record points.
#[derive(Default)]
pub(crate) struct WaitSlot(Option<Wait>);

impl WaitSlot {
    /// Called first in each poll, before the future touches the values to which the record points. Returns the error
    /// with which the wait has to end, if there is one.
    #[inline]
    pub(crate) fn begin_poll(&mut self) -> Option<Deadlock> {
        let wait = self.0.as_ref()?;
        if !wait.is_here() {
            // The future has left the task of its record.
            self.0 = None;
            return None;
        }
        // SAFETY: `is_here` says that this thread polls the task of the record.
        let verdict = unsafe { wait.get().take_verdict() };
        if verdict.is_some() {
            self.0 = None;
        }
        verdict
    }

    /// Records that the future waits. Called at the end of each poll that is not ready.
    ///
    /// # Safety
    ///
    /// As for [`Wait::begin`], and the slot is dropped, or [`end`](Self::end)ed, before the values to which the cause
    /// points.
    #[inline]
    pub(crate) unsafe fn record_wait(&mut self, cause: impl FnOnce() -> Cause) {
        match &self.0 {
            Some(wait) if wait.is_here() => wait.record_poll(),
            _ => {
                self.end();
                // SAFETY: the caller promises that the cause's pointers are valid until the slot is dropped or ended.
                self.0 = unsafe { Wait::begin(cause()) };
            }
        }
    }

    /// Whether the slot has a record of the task that this thread polls.
    #[inline]
    fn is_here(&self) -> bool {
        self.0.as_ref().is_some_and(Wait::is_here)
    }

    /// As [`record_wait`](Self::record_wait), for the lane to which the task moves when its poll ends. That lane is then the task's
    /// own.
    pub(crate) fn record_move(&mut self, how: &'static How, site: &'static Location<'static>) {
        const OWN: &WaitKind = &WaitKind { target: |_| Some(Target::Own), waker: |_| None };
        let nothing = ptr::null();
        let cause = || Cause { how, site, kind: OWN, what: nothing, beside: nothing };
        // SAFETY: the functions of the kind `OWN` use no pointer of the cause, so there are no requirements.
        unsafe { self.record_wait(cause) };
    }

    /// The wait is over.
    #[inline]
    pub(crate) fn end(&mut self) {
        if self.0.is_some() {
            self.0 = None;
        }
    }

    pub(crate) fn record(&self) -> Option<NonNull<WaitRecord>> {
        self.0.as_ref().map(Wait::record)
    }
}

/// A turn under one color for which a future waits. The lane may be gone once the closure has begun: only the search
/// for deadlocks uses it, while the closure has not begun.
#[derive(Clone, Copy)]
pub(crate) struct AwaitedTurn {
    pub(crate) lane: LanePtr,
    pub(crate) how: &'static How,
    pub(crate) site: &'static Location<'static>,
}

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
