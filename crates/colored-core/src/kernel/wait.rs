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
use crate::kernel::lane::{self, Address, BehaviorRef, LanePtr, LaneRef, current};
use crate::kernel::task::{Abort, Cause, Deadlock, How, Named, TaskRef, WaitRecord};
use crate::sync::{Arc, thread_slot};
use std::cell::Cell;
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

/// The innermost section that a wait is in.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    /// The task whose section it is.
    pub(crate) task: TaskRef<LanePtr>,
    /// Where the section was made.
    pub(crate) site: &'static Location<'static>,
    /// Its record in the task.
    pub(crate) record: Option<NonNull<WaitRecord>>,
}

thread_slot!(static INSIDE: Cell<Option<Inside>> = Cell::new(None));

/// The section whose future this thread polls; `None` outside the future of one. A task that is polled inside another
/// task's section, for example by a worker that is stepped there, is in none.
#[inline]
pub(crate) fn inside() -> Option<Inside> {
    let inside = INSIDE.with(Cell::get)?;
    (current::task() == Some(inside.task)).then_some(inside)
}

/// Sets the section that this thread is inside, and returns the one before.
pub(crate) fn replace_inside(inside: Option<Inside>) -> Option<Inside> {
    INSIDE.with(|place| place.replace(inside))
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
            let section = inside().and_then(|inside| inside.record);
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
        let section = inside().and_then(|inside| inside.record);
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
    pub(crate) fn is_here(&self) -> bool {
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

/// A task that has been given room, and has to run before it uses the room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    pub(crate) task: Named,
    /// The lane on which it runs next.
    pub(crate) lane: LanePtr,
}
