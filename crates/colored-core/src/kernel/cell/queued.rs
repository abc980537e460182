//! [`Queued`]: a closure in the line of one color, and the future that waits for its result: for calls,
//! reads, `when` over one color, and the calls of types with a queue of their own ([`RemoteCall`]).

use super::access::CallError;
use super::slot::{Outcome, Slot};
use crate::kernel::contain::contain;
use crate::kernel::lane::{LaneRef, callback};
use crate::kernel::wait::{AwaitedTurn, WaitSlot};
use crate::sync::Arc;
use std::fmt;
use std::task::{Poll, Waker};

/// The waiting future's half. When it is dropped, a closure that has not begun is dropped at its turn.
pub(super) struct Queued<F, R> {
    /// Dropped before the slot.
    wait: WaitSlot,
    /// `None` once the outcome has been returned.
    slot: Option<Arc<Slot<F, R>>>,
}

impl<F: Send + 'static, R: Send + 'static> Queued<F, R> {
    /// Puts `f` into the line of `lane`, where `run` runs it; `turn` names that turn. Both are dropped there if the
    /// runtime shuts down first.
    pub(super) fn post(
        lane: &LaneRef,
        turn: AwaitedTurn,
        f: F,
        waker: &Waker,
        run: impl Fn(F) -> R + Send + 'static,
    ) -> Self {
        let (mut queued, slot) = Self::new(f, waker.clone());
        let posted = Posted { call: RemoteCall::new(slot), run };
        callback::post_awaited(lane, move || posted.run());
        queued.record_wait(turn);
        queued
    }
}

impl<F, R> Queued<F, R> {
    /// The future's half and the slot for the half that runs the closure.
    pub(super) fn new(f: F, waker: Waker) -> (Self, Arc<Slot<F, R>>) {
        let slot = Arc::new(Slot::new(f, waker));
        (Self { wait: WaitSlot::default(), slot: Some(Arc::clone(&slot)) }, slot)
    }

    /// Records that the task waits for that turn. The closure, or the caller, keeps the lane until the closure begins.
    pub(super) fn record_wait(&mut self, turn: AwaitedTurn) {
        if let Some(slot) = &self.slot {
            // SAFETY: this keeps the slot, and drops the record first. The search uses the lane only under the slot's
            // lock while the closure has not begun, and until then the closure, or the caller, keeps the lane.
            unsafe { self.wait.record_wait(|| slot.cause(turn)) };
        }
    }

    /// Returns the outcome, once, or stores `waker` to be woken when it is there. `turn` names the awaited
    /// turn again, if there is one.
    ///
    /// # Errors
    ///
    /// If the wait would never end.
    pub(super) fn poll(
        &mut self,
        waker: &Waker,
        turn: impl FnOnce() -> Option<AwaitedTurn>,
    ) -> Poll<Result<Outcome<R>, CallError>> {
        let verdict = self.wait.begin_poll();
        let slot = self.slot.as_ref().expect("it has no outcome yet");
        let polled = slot.poll(waker).map_or(Poll::Pending, Poll::Ready);
        match (polled, verdict) {
            (Poll::Ready(outcome), _) => {
                self.wait.end();
                self.slot = None;
                Poll::Ready(Ok(outcome))
            }
            (Poll::Pending, Some(deadlock)) => Poll::Ready(Err(CallError::Deadlock(deadlock))),
            (Poll::Pending, None) => {
                if let Some(turn) = turn() {
                    self.record_wait(turn);
                }
                Poll::Pending
            }
        }
    }

    /// No future waits any more.
    pub(super) fn abandon(&mut self) {
        self.wait.end();
        if let Some(slot) = self.slot.take() {
            slot.abandon();
        }
    }
}

impl<F, R> Drop for Queued<F, R> {
    fn drop(&mut self) {
        self.abandon();
    }
}

/// A closure that is sent to a color. Its receiver runs or drops it.
pub struct RemoteCall<F, R>(Option<Arc<Slot<F, R>>>);

impl<F, R> RemoteCall<F, R> {
    pub(super) fn new(slot: Arc<Slot<F, R>>) -> Self {
        Self(Some(slot))
    }

    /// Runs the closure by `run`, unless its caller is gone. Its turn has come.
    pub fn run(mut self, run: impl FnOnce(F) -> R) {
        if let Some(slot) = self.0.take()
            && let Some(f) = slot.begin()
        {
            slot.finish_and_wake(slot.run(|| run(f)));
        }
    }
}

impl<F, R> Drop for RemoteCall<F, R> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take()
            && let Some(f) = slot.begin()
        {
            contain(|| drop(f));
            slot.finish_and_wake(Outcome::Cancelled);
        }
    }
}

impl<F, R> fmt::Debug for RemoteCall<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCall").finish_non_exhaustive()
    }
}

/// The half that waits in the color's line. A shutdown drops it without running it.
struct Posted<F, R, Q> {
    call: RemoteCall<F, R>,
    /// It may keep the last clones of cells, so it is dropped after the caller has been told.
    run: Q,
}

impl<F, R, Q: Fn(F) -> R> Posted<F, R, Q> {
    fn run(self) {
        let Self { call, run } = self;
        call.run(&run);
    }
}
