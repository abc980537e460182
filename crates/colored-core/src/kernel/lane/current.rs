//! The lane that this thread holds, the task that it polls, and what it is inside of meanwhile ([`Nesting`]); and what the
//! holder does with the lane: its inner part, the node at its head, and that node's turn.

use crate::hooks::mark::Mark;
use crate::kernel::chain::{Kind, Node};
use crate::kernel::color::Color;
use crate::kernel::lane::base::{AfterTurn, Held, Inner, Lane, LanePtr};
use crate::kernel::task::{Abort, Id, PolledTask, Stored, TaskRef, TaskTurn, contain};
use crate::sync::thread_slot;
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;
use std::task::Waker;

pub(crate) struct Current {
    lane: Cell<Option<LanePtr>>,
    task: Cell<Option<TaskRef<LanePtr>>>,
    /// References to `lane` taken (positive) or given back (negative) but not counted yet.
    owed: Cell<isize>,
    /// The lane that the task wants to hop to, with a reference.
    hop: Cell<Option<LanePtr>>,
    /// The task wants to run again.
    yielded: Cell<bool>,
    /// Lanes that become runnable here run behind the others ([`wake_last`]).
    wakes_last: Cell<bool>,
    /// The task whose poll is over, and which wakes others or itself, while that is recorded.
    completing: Cell<Option<Id>>,
    /// How many closures that must return in this turn the thread is inside of ([`Closure`]).
    closures: Cell<u32>,
}

thread_slot!(static CURRENT: Current = Current::new());

impl Current {
    /// That of a thread that holds no lane.
    pub(crate) const fn new() -> Self {
        Self {
            lane: Cell::new(None),
            task: Cell::new(None),
            owed: Cell::new(0),
            hop: Cell::new(None),
            yielded: Cell::new(false),
            wakes_last: Cell::new(false),
            completing: Cell::new(None),
            closures: Cell::new(0),
        }
    }

    /// Exchanges this thread's for this one.
    ///
    /// # Safety
    ///
    /// The thread goes on in frames that `self` tells of.
    #[cfg(feature = "sim")]
    pub(crate) unsafe fn exchange(&self) {
        CURRENT.with(|current| {
            current.lane.swap(&self.lane);
            current.task.swap(&self.task);
            current.owed.swap(&self.owed);
            current.hop.swap(&self.hop);
            current.yielded.swap(&self.yielded);
            current.wakes_last.swap(&self.wakes_last);
            current.completing.swap(&self.completing);
            current.closures.swap(&self.closures);
        });
    }
}

/// The time in which this thread holds a lane.
pub(crate) struct Hold {
    lane: LanePtr,
    outer: Option<LanePtr>,
    outer_task: Option<TaskRef<LanePtr>>,
    outer_owed: isize,
    outer_hop: Option<LanePtr>,
    outer_yielded: bool,
}

impl Hold {
    /// # Safety
    ///
    /// This thread holds the lane, which is alive, up to [`end`](Self::end), or until this value is dropped.
    #[inline]
    pub(crate) unsafe fn begin(lane: LanePtr) -> Self {
        CURRENT.with(|current| Self {
            lane,
            outer: current.lane.replace(Some(lane)),
            outer_task: current.task.replace(None),
            outer_owed: current.owed.replace(0),
            outer_hop: current.hop.replace(None),
            outer_yielded: current.yielded.replace(false),
        })
    }

    #[inline]
    pub(crate) fn ptr(&self) -> LanePtr {
        self.lane
    }

    /// References taken and not counted yet; the caller counts them.
    pub(crate) fn take_owed(&self) -> isize {
        CURRENT.with(|current| current.owed.take())
    }

    pub(crate) fn owe(&self, refs: isize) {
        CURRENT.with(|current| current.owed.set(current.owed.get() + refs));
    }

    /// Ends the hold. The caller still [counts](Self::count_refs) the owed references.
    pub(crate) fn end(&self) {
        CURRENT.with(|current| current.lane.set(None));
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.lane.set(self.outer);
            current.task.set(self.outer_task);
            current.owed.set(self.outer_owed);
            current.hop.set(self.outer_hop);
            current.yielded.set(self.outer_yielded);
        });
    }
}

/// The requests of a task during its poll.
pub(crate) struct Asked {
    /// The lane to go on under, with a reference.
    pub(crate) hop: Option<LanePtr>,
    pub(crate) yielded: bool,
}

/// Polls the task of `turn`, or drops its future if `cancel`, as the current task.
#[inline]
pub(crate) fn poll(turn: &mut TaskTurn<'_, LanePtr>, cancel: bool) -> (Option<Stored>, Asked) {
    CURRENT.with(|current| current.task.set(Some(turn.task())));
    let stored = turn.run(cancel);
    let asked = CURRENT.with(|current| {
        current.task.set(None);
        Asked { hop: current.hop.take(), yielded: current.yielded.take() }
    });
    (stored, asked)
}

/// Calls `f` with the right to the poll that this thread is inside.
#[inline]
pub(crate) fn with_polled<R>(f: impl FnOnce(Option<PolledTask<'_, LanePtr>>) -> R) -> R {
    // SAFETY: only `poll` sets the task, for the time of a poll that is further up the stack than `f`.
    f(task().map(|task| unsafe { PolledTask::new(task) }))
}

/// Sets the task whose poll is over and which this thread ends, and returns the one before.
#[cold]
pub(crate) fn replace_completing(task: Option<Id>) -> Option<Id> {
    CURRENT.with(|current| current.completing.replace(task))
}

/// The task whose poll, or whose end, is what this thread does.
#[cold]
pub(crate) fn waker() -> Option<Id> {
    let completing = || CURRENT.with(|current| current.completing.get());
    task().map(TaskRef::id).or_else(completing)
}

/// Wakes a task that has waited in a line: on a worker, the tasks that are runnable here come before it.
pub(crate) fn wake_last(waker: Waker) {
    let before = CURRENT.with(|current| current.wakes_last.replace(true));
    contain(|| waker.wake());
    CURRENT.with(|current| current.wakes_last.set(before));
}

/// Whether this thread is inside [`wake_last`].
#[inline]
pub(crate) fn is_waking_last() -> bool {
    CURRENT.with(|current| current.wakes_last.get())
}

/// Whether this thread holds `lane`.
#[inline]
pub(crate) fn is(lane: LanePtr) -> bool {
    CURRENT.with(|current| current.lane.get() == Some(lane))
}

/// The lane that this thread holds. It stays alive for as long as the caller runs under it.
#[inline]
pub(crate) fn lane() -> Option<LanePtr> {
    CURRENT.with(|current| current.lane.get())
}

/// Calls `f` with the lane that this thread holds.
#[inline]
pub(crate) fn with_lane<R>(f: impl FnOnce(Option<&Lane>) -> R) -> R {
    // SAFETY: this thread holds the lane up to the end of a turn that is further up the stack than `f`, and a held lane is
    // alive.
    f(lane().map(|lane| unsafe { lane.get() }))
}

/// References to the lane that this thread holds which are taken, or given back if negative, and not counted yet.
#[inline]
pub(crate) fn owed() -> isize {
    CURRENT.with(|current| current.owed.get())
}

/// The task that this thread polls.
#[inline]
pub(crate) fn task() -> Option<TaskRef<LanePtr>> {
    CURRENT.with(|current| current.task.get())
}

/// A reference to the task that this thread polls.
pub(crate) fn abort_handle() -> Option<Abort<LanePtr>> {
    task().map(|task| task.abort_handle())
}

/// Whether the task that this thread polls has an open section.
#[cold]
pub(crate) fn is_in_a_section() -> bool {
    task().is_some_and(TaskRef::has_sections)
}

/// A reference to the lane that this thread holds, counted when the slice ends.
#[inline]
pub(crate) fn retain(lane: LanePtr) -> bool {
    adjust(lane, 1)
}

/// Gives a reference back if it is to the lane that this thread holds; false if it is not.
#[inline]
pub(crate) fn give_back(lane: LanePtr) -> bool {
    adjust(lane, -1)
}

fn adjust(lane: LanePtr, refs: isize) -> bool {
    CURRENT.with(|current| {
        let held = current.lane.get() == Some(lane);
        if held {
            current.owed.set(current.owed.get() + refs);
        }
        held
    })
}

/// Has the current task go on under another lane when its poll ends. The caller gives a reference to the lane, and gets
/// that of an earlier request in this poll. Fails outside a task.
pub(crate) fn set_hop(lane: LanePtr) -> Result<Option<LanePtr>, NoTask> {
    CURRENT.with(|current| match current.task.get() {
        Some(_) => Ok(current.hop.replace(Some(lane))),
        None => Err(NoTask),
    })
}

/// This thread polls no task.
#[derive(Debug)]
pub(crate) struct NoTask;

/// The lane to which the current task has asked to hop in this poll.
pub(crate) fn hop() -> Option<LanePtr> {
    CURRENT.with(|current| current.hop.get())
}

/// The color that the current task has asked to hop to in this poll.
pub(crate) fn hops_to() -> Option<Color> {
    let lane = hop()?;
    // SAFETY: `set_hop` was given a reference, which only this thread takes back.
    Some(unsafe { lane.get() }.color())
}

/// Asks that the task run again, without the cost of a wake. False if it is not the current one.
#[inline]
pub(crate) fn mark_yielded(task: TaskRef<LanePtr>) -> bool {
    CURRENT.with(|current| {
        let is_current = current.task.get() == Some(task);
        if is_current {
            current.yielded.set(true);
        }
        is_current
    })
}

/// A closure that must return before the turn of its caller ends: it has a value that other work of the color uses
/// later. Code that could suspend a stack inside of it asks [`Nesting`].
#[derive(Debug)]
#[must_use = "dropping it says that the closure has returned"]
pub struct Closure(());

impl Closure {
    /// Call this before the closure, and drop the value afterwards.
    #[inline]
    pub fn begin() -> Self {
        CURRENT.with(|current| current.closures.set(current.closures.get() + 1));
        Self(())
    }
}

impl Drop for Closure {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| current.closures.set(current.closures.get() - 1));
    }
}

/// What this thread is inside of: a poll, and closures that must return in their turn. A stack may be suspended only where
/// it is inside of the same as where it was resumed.
#[derive(Clone, Copy, PartialEq)]
pub struct Nesting {
    task: Option<TaskRef<LanePtr>>,
    closures: u32,
}

impl Nesting {
    /// That of the caller. A closure that runs at once under a lane of its own is inside of no task.
    #[inline]
    #[must_use]
    pub fn here() -> Self {
        CURRENT.with(|current| Self { task: current.task.get(), closures: current.closures.get() })
    }
}

impl fmt::Debug for Nesting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nesting").field("closures", &self.closures).finish_non_exhaustive()
    }
}

impl Hold {
    /// The lane, up to the [end](Self::end) of the hold.
    #[inline]
    pub(crate) fn lane(&self) -> Held<'_> {
        debug_assert!(is(self.ptr()), "the hold has ended");
        // SAFETY: `begin` was promised that this thread holds the lane, and that it is alive, up to the end of the hold.
        unsafe { Held::new(self.ptr()) }
    }
}

impl Held<'_> {
    /// Calls `f` with the lane that this thread holds, if it holds one.
    #[inline]
    pub(crate) fn with_current<R>(f: impl FnOnce(Option<Held<'_>>) -> R) -> R {
        f(lane().map(|lane| {
            // SAFETY: this thread holds the lane up to the end of a turn that is further up the stack than `f`, and a
            // held lane is alive.
            unsafe { Held::new(lane) }
        }))
    }

    /// Calls `f` with the part that belongs to the holder. `f` runs no user code, so it cannot come here again.
    #[inline]
    pub(crate) fn inner<R>(self, f: impl FnOnce(&mut Inner) -> R) -> R {
        self.inner.with_mut(|inner| {
            // SAFETY: this thread holds the lane, and no other call of this function is in progress: `f` runs no user
            // code.
            f(unsafe { &mut *inner })
        })
    }

    /// The node at the head.
    #[inline]
    pub(crate) fn head(self) -> Head {
        let node = self.chain.head();
        // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
        let at_head = unsafe { node.as_ref() };
        Head { node, kind: at_head.kind, pin: at_head.pin(), urgent: at_head.urgent }
    }

    /// The mark of the head, for listeners.
    #[inline]
    pub(crate) fn mark(self, head: &Head) -> &Mark {
        // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
        &unsafe { head.node.as_ref() }.mark
    }

    /// Takes what becomes of a head that has had its turn and is still where it was.
    #[inline]
    pub(crate) fn take_stalled(self) -> Option<AfterTurn> {
        // SAFETY: this thread holds the lane, and only the holder uses the field.
        self.stalled.with_mut(|stalled| unsafe { (*stalled).take() })
    }

    /// Whether its color has values.
    pub(crate) fn has_locals(self) -> bool {
        self.inner(|inner| inner.locals.is_some())
    }

    /// The head has had its turn, and a producer behind it is half done.
    pub(crate) fn set_stalled(self, then: AfterTurn) {
        // SAFETY: this thread holds the lane, and only the holder uses the field.
        self.stalled.with_mut(|stalled| unsafe { *stalled = Some(then) });
    }
}

/// The node at the head of a held lane, and the fields of it that do not change while it is scheduled.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) node: NonNull<Node>,
    pub(crate) kind: Kind,
    pub(crate) pin: u32,
    pub(crate) urgent: bool,
}

impl Head {
    /// The task, if the node is one.
    #[inline]
    pub(crate) fn task(&self) -> Option<TaskRef<LanePtr>> {
        // SAFETY: the node is of `Kind::Task`, and the runtime's reference keeps the task up to the end of `finish`.
        (self.kind == Kind::Task).then(|| unsafe { TaskRef::from_node(self.node) })
    }

    /// The turn of the task, if the node is one.
    ///
    /// # Safety
    ///
    /// The node is at the head of the lane of `hold`, and its task is not complete. This thread may run it, and has no other
    /// [`TaskTurn`] of it.
    #[inline]
    pub(crate) unsafe fn task_turn<'h>(&self, _hold: &'h Hold) -> Option<TaskTurn<'h, LanePtr>> {
        // SAFETY: the caller promises that this is the one turn of the task, at the head of a lane that is held for `'h`.
        self.task().map(|task| unsafe { TaskTurn::new(task) })
    }
}

impl Held<'_> {
    /// Marks all waiting tasks for cancellation, the oldest first: their turns come in that order. An abort may add nodes
    /// to the lane, but does not run it.
    #[cold]
    pub(crate) fn abort_waiting(self) {
        self.inner(|inner| inner.live.reverse());
        while let Some(task) = self.inner(|inner| inner.live.pop()) {
            task.abort();
        }
    }

    /// Called before the lane may become idle with tasks that wait: ensures that a shutdown finds them. The lane is in the
    /// table from then on. A shutdown that looked into the table before has set its flag before, and the table's lock makes
    /// the flag visible here.
    #[inline]
    pub(super) fn ensure_found(self, mut closing: bool) {
        if self.inner(|inner| inner.live.is_empty()) {
            return;
        }
        if !self.is_published() {
            self.publish(self.ptr());
            closing = self.is_closing();
        }
        if closing {
            self.abort_waiting();
        }
    }
}

/// The color that this thread runs under; look-ups can find it from now on.
pub(crate) fn current_color() -> Option<Color> {
    Held::with_current(|lane| {
        let lane = lane?;
        lane.publish(lane.ptr());
        Some(lane.color())
    })
}

/// As [`current_color`], for a text: a fresh color gets no entry in the table.
#[cfg(feature = "tracing")]
pub(crate) fn shown_color() -> Option<Color> {
    Held::with_current(|lane| Some(lane?.color()))
}

/// The time in the scheduler of the lane that this thread holds; see [`noted_time`](crate::kernel::lane::Dispatch::noted_time).
#[inline]
pub(crate) fn noted_time() -> Option<u64> {
    Held::with_current(|lane| Some(lane?.port.noted_time()))
}
