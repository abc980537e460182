//! The wake path: a node is pushed on its lane, and a lane that was idle is dispatched to a thread. A shutdown wakes all tasks
//! that wait in a lane.

use crate::hooks::{self, Act};
use crate::kernel::chain::Node;
use crate::kernel::lane::base::{Dispatch, Held, Lane, LanePtr, Owner, ReadyLane};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::lane::{callback, current};
use crate::kernel::task::{self, Schedule, TaskPanic, TaskRef};
use crate::sync::Arc;
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
