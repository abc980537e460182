//! The wake path: a node is pushed on its lane, and a lane that was idle is dispatched to a thread. A shutdown wakes all tasks
//! that wait in a lane.
//!
//! # Lent urgency
//!
//! A color that a color of the highest class waits for is of that class too.
//! Otherwise the urgent color would wait for as long as the other has to: priority inversion, with inheritance as the
//! remedy (Sha, Rajkumar and Lehoczky 1990). A call, a reader or a claim that a lane of the highest class schedules on
//! another lane, and waits for, is urgent there, as an urgent task is: that lane is of the highest class until the node
//! has had its turn ([`priority`](crate::kernel::lane::priority)).
//!
//! Whether a node is urgent is decided once, when it is made: by the class of the lane that the thread holds at that
//! time. Urgency goes one lane far. If that lane itself waits for others, in a section or as one of several lanes of a
//! behavior, it queued those nodes before.
//!
//! A join lends nothing. Lent urgency belongs to a node in a lane. A task that is joined may be in no lane, and may
//! pass several before it ends. So each wake and hop of any task would have to ask which task joins it, and each joiner
//! that goes or is no longer urgent would have to find it. A program that knows that the end of a task is urgent can
//! say so when it spawns the task.

use crate::hooks::{self, Act};
use crate::kernel::chain::Node;
use crate::kernel::lane::base::{Dispatch, Held, Lane, LanePtr, Owner, ReadyLane};
use crate::kernel::lane::priority::Priority;
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::lane::{callback, current};
use crate::kernel::task::{self, Schedule, TaskPanic, TaskRef};
use crate::sync::{Arc, Ordering};
use std::any::Any;
use std::ptr::NonNull;
use std::task::RawWakerVTable;

impl LanePtr {
    /// Adds a node and sees to it that it runs.
    ///
    /// # Safety
    ///
    /// As for [`Chain::push`](crate::kernel::chain::Chain::push), and the node owns a reference to this lane or is
    /// [`Kind::Uncounted`](crate::kernel::chain::Kind::Uncounted).
    #[inline(always)]
    pub(crate) unsafe fn push(self, node: NonNull<Node>) {
        // SAFETY: the caller promises that the node is in no chain, stays until it has run, and owns a reference or
        // needs none.
        unsafe { self.push_with(node, ReadyLane::dispatch_recorded) };
    }

    /// As [`push`](Self::push), for a caller that keeps the scheduler alive: so a thread that is no worker need not
    /// retain it, by a count that all threads share.
    ///
    /// # Safety
    ///
    /// As for `push`, and `port` is the lane's.
    #[inline(always)]
    pub(crate) unsafe fn push_in(self, node: NonNull<Node>, port: &impl Dispatch) {
        let dispatch = |ready: ReadyLane, pin| {
            if let Err(ready) = port.accept(ready, pin, Owner::Worker) {
                accept_from_outside(port, ready, pin);
            }
        };
        // SAFETY: the caller promises that the node is in no chain, stays until it has run, and owns a reference or
        // needs none.
        unsafe { self.push_with(node, dispatch) };
    }

    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline(always)]
    unsafe fn push_with(self, node: NonNull<Node>, dispatch: impl FnOnce(ReadyLane, u32)) {
        // SAFETY: the node's reference, or the caller's, keeps the lane alive.
        let lane = unsafe { self.get() };
        let act = Act::push(lane);
        // SAFETY: the node is in no chain yet, so this thread may read it.
        let fresh = unsafe { node.as_ref() };
        let pin = fresh.pin();
        if fresh.urgent {
            lane.raise();
        }
        hooks::pushed(lane, fresh);
        // SAFETY: the caller promises that the node is in no chain, and stays until it has run.
        if unsafe { lane.push_node(node) } {
            hooks::queued(lane);
            dispatch(ReadyLane(self), pin);
        }
        act.end();
    }
}

/// A function of its own, out of the workers' hot path.
#[inline(never)]
fn accept_from_outside(port: &(impl Dispatch + ?Sized), lane: ReadyLane, pin: u32) {
    let taken = port.accept(lane, pin, Owner::Caller);
    debug_assert!(taken.is_ok(), "the caller keeps the scheduler");
}

impl ReadyLane {
    /// Hands the lane to a thread that may run tasks that are pinned to `pin`. That thread may free the lane before
    /// this returns, so no argument of this, or of what it calls, is a reference into the lane.
    #[inline(always)]
    pub(super) fn dispatch(self, pin: u32) {
        hooks::queued(self.lane());
        self.dispatch_recorded(pin);
    }

    /// As `dispatch`, where it has been recorded that the lane is queued.
    #[inline(always)]
    fn dispatch_recorded(self, pin: u32) {
        // SAFETY: the chain has a node, which keeps the lane, up to the hand-over of the right to run it.
        let lane = unsafe { self.0.get() };
        // The reference is to the scheduler, not into the lane: a worker that takes the lane keeps its scheduler, and
        // otherwise the right to run comes back.
        let port: &dyn Dispatch = &*lane.port;
        if let Err(ready) = port.accept(self, pin, Owner::Worker) {
            let port = Arc::clone(&ready.lane().port);
            accept_from_outside(&*port, ready, pin);
        }
    }
}

impl Schedule for LanePtr {
    type Target = Lane;

    #[inline]
    fn into_raw(self) -> NonNull<Lane> {
        self.0
    }

    #[inline]
    fn from_raw(raw: NonNull<Lane>) -> Self {
        Self(raw)
    }

    #[inline]
    fn waker_table() -> &'static RawWakerVTable {
        static TABLE: RawWakerVTable = task::waker_table::<LanePtr>();
        &TABLE
    }

    #[inline]
    fn mark_yielded(task: TaskRef<Self>) -> bool {
        current::mark_yielded(task)
    }

    #[cold]
    fn panicked(task: TaskRef<Self>, payload: &(dyn Any + Send)) {
        // A blocking call is on no lane.
        if current::task() != Some(task) {
            return;
        }
        Held::with_current(|lane| {
            if let Some(lane) = lane {
                lane.port().panicked(&TaskPanic::new(task, lane.color(), payload));
            }
        });
    }

    #[inline]
    unsafe fn schedule(self, node: NonNull<Node>) {
        // SAFETY: the node is a task's, which is not complete, and so alive.
        hooks::task_woken(self, unsafe { TaskRef::from_node(node) });
        // SAFETY: the caller may move the task, so the node is in no chain; a task that is not complete owns a
        // reference to its lane.
        unsafe { self.push(node) };
    }

    unsafe fn resume(self, node: NonNull<Node>) {
        // SAFETY: the task has kept its lane, so the node is at the head; the caller has the right to run the lane, so
        // the node stays.
        let node = unsafe { node.as_ref() };
        // SAFETY: the caller has the right to run the lane, so the lane is alive.
        let lane = unsafe { self.get() };
        let act = Act::push(lane);
        hooks::pushed(lane, node);
        ReadyLane(self).dispatch(node.pin());
        act.end();
    }
}

/// Whether this thread holds a lane that lends urgency to a node that it makes now, and is going to wait for.
pub(crate) fn lends_urgency() -> bool {
    Held::with_current(|own| {
        own.is_some_and(|own| own.priority() == Priority::High && own.takes_urgency())
    })
}

impl Lane {
    /// Whether a node that this thread makes for the lane now, and is going to wait for, is urgent there.
    pub(in crate::kernel::lane) fn is_lent_urgency(&self) -> bool {
        lends_urgency() && self.takes_urgency()
    }

    /// Whether a node may be urgent in the lane, which may belong to another scheduler.
    pub(super) fn takes_urgency(&self) -> bool {
        self.port.common().has_classes()
    }

    /// Makes the lane urgent for a node that the caller pushes next: the node's turn takes the urgency back. Takes the
    /// lock of a queue, and may wake a worker.
    #[cold]
    pub(in crate::kernel::lane) fn raise(&self) {
        if let Some(class) = self.priority.add_urgent() {
            self.port.raise(self, class);
        }
    }

    /// The wait of a node is over without a turn: its reader is inside.
    pub(in crate::kernel::lane) fn end_wait_of_reader(&self, node: &Node) {
        hooks::entered(self, node);
        if node.urgent {
            self.priority.lower();
        }
    }
}

impl Lane {
    /// The lane is about to enter a queue by class, under the lock of the queue. Returns its class.
    pub(crate) fn enter_class_queue(&self, place: usize) -> Priority {
        let place = u16::try_from(place).expect("fewer than 2¹⁶ queues");
        // Ordering: the Release of `enter_queue` publishes it.
        self.class_place.store(place, Ordering::Relaxed);
        self.priority.enter_queue()
    }

    /// The lane has left its queue by class, under the lock of the queue.
    pub(crate) fn leave_class_queue(&self) {
        self.priority.leave_queue();
    }

    /// The queue by class in which the lane is, for a thread that has learned that it is in one. It may be in another
    /// one by now, or in none.
    pub(crate) fn class_place(&self) -> usize {
        // Ordering: an exchange of the word, with Acquire, has told this thread that the lane is in a queue.
        usize::from(self.class_place.load(Ordering::Relaxed))
    }

    /// Sets the priority of the color. Returns the new class, if the lane is queued in a lower one and must be moved.
    #[must_use]
    pub(crate) fn set_priority(&self, priority: Priority) -> Option<Priority> {
        self.priority.set_base(priority)
    }

    /// The priority that the color was given last.
    pub(crate) fn base_priority(&self) -> Priority {
        self.priority.base()
    }
}

impl LaneRef {
    /// Tells the lane to cancel the tasks that wait in it.
    pub(crate) fn close(&self) {
        let close = Close;
        callback::post(self, move || drop(close));
    }
}

/// Closes the lane when it is dropped: so a callback that is cancelled does it too.
struct Close;

impl Drop for Close {
    fn drop(&mut self) {
        Held::with_current(|lane| {
            let lane = lane.expect("a callback runs, and is dropped, under its lane");
            lane.abort_waiting();
            // The values are dropped behind these tasks.
            lane.end_locals();
        });
    }
}

impl Held<'_> {
    /// Marks all waiting tasks for cancellation, the oldest first: their turns come in that order. An abort may add nodes
    /// to the lane, but does not run it.
    #[cold]
    fn abort_waiting(self) {
        self.inner(|inner| inner.live.reverse());
        while let Some(task) = self.inner(|inner| inner.live.pop()) {
            task.abort();
        }
    }

    /// Called before the lane may become idle with tasks that wait: ensures that a shutdown finds them. The lane is in the table from then on. A shutdown that looked into the table before has set its flag
    /// before, and the table's lock makes the flag visible here.
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
