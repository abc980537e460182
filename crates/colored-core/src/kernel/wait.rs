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
//! | room under a color, of a crate above | the room | the holders that can give [room](Room) |
//!
//! A wait that has no record is [noted](note) in a slot of its task; without the feature `leaves` it is not.
//!
//! # Deadlocks
//!
//! A deadlock does not go away by itself. So a wait that begins is not checked. The [search for
//! deadlocks](crate::look_for_deadlocks) checks the waits inside sections that have lasted.
//!
//! # Room
//!
//! A task may wait for [room](Room) in something that a number of holders share, for example a limit on the work of a color.
//! Each holder may give room. So a wait for room ends when any of them goes on, and is part of a deadlock only if none
//! can. A crate above implements [`Room`]; the core knows only the answers of its methods.

use crate::hooks::slots::Leaf;
use crate::kernel::lane::{self, Address, BehaviorRef, LanePtr, LaneRef, current, section};
use crate::kernel::task::{Abort, Cause, Deadlock, How, Named, WaitRecord};
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
            let section = section::inside().and_then(|inside| inside.record);
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
        let section = section::inside().and_then(|inside| inside.record);
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

/// Notes that the task that this thread polls waits for a leaf. The leaf calls it before it returns `Pending`, after it has
/// left its waker. A guard, such as the timer of a timeout, counts only if the task waits for no other leaf. Costs some 5 ns, and
/// does nothing outside a task.
#[inline]
#[cfg_attr(not(feature = "leaves"), expect(unused_variables, reason = "nothing is noted"))]
pub fn note(leaf: Leaf, is_guard: bool) {
    #[cfg(feature = "leaves")]
    current::with_polled(|task| {
        if let (Some(task), Some(now)) = (task, lane::noted_time()) {
            task.note_leaf(leaf, is_guard, now);
        }
    });
}

/// Notes that the task no longer waits for a leaf that has returned `Pending` in this poll of the task. The leaf calls it
/// when it is dropped. `is_it` says whether a leaf is the caller's.
#[inline]
#[cfg_attr(not(feature = "leaves"), expect(unused_variables, reason = "nothing is noted"))]
pub fn forget(is_it: impl FnOnce(Leaf) -> bool) {
    #[cfg(feature = "leaves")]
    current::with_polled(|task| {
        if let Some(task) = task {
            task.forget_leaf(is_it);
        }
    });
}

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
