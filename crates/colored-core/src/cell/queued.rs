//! [`Queued`]: a closure in the line of one color, and the future that waits for its result: for calls,
//! reads, and `when` over one color.

use super::access::{CallError, InUse};
use super::slot::{Outcome, Slot};
use crate::contain::contain;
use crate::lane::callback;
use crate::sync::Arc;
use crate::wait::{Turn, WaitSlot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// The part that the waiting future and the color's half share.
pub(super) type Shared<F, R> = Arc<Slot<F, Result<R, InUse>>>;

/// The waiting future's half. When it is dropped, a closure that has not begun is dropped at its turn.
pub(super) struct Queued<F, R> {
    /// Dropped before the slot.
    wait: WaitSlot,
    slot: Option<Shared<F, R>>,
}

impl<F: Send + 'static, R: Send + 'static> Queued<F, R> {
    /// Puts `f` into the line of the turn's lane, where `run` runs it. Both are dropped there if the
    /// runtime shuts down first.
    pub(super) fn post(
        turn: Turn<'_>,
        f: F,
        waker: &Waker,
        run: impl Fn(F) -> Result<R, InUse> + Send + 'static,
    ) -> Self {
        Self::push(turn, f, waker, |slot| {
            let posted = Posted { slot, has_come: false, run };
            callback::post_awaited(turn.lane, move || posted.run());
        })
    }
}

impl<F, R> Queued<F, R> {
    /// Calls `push` to put the color's half into the line of the turn's lane.
    pub(super) fn push(
        turn: Turn<'_>,
        f: F,
        waker: &Waker,
        push: impl FnOnce(Shared<F, R>),
    ) -> Self {
        let slot = Arc::new(Slot::new(f, waker.clone()));
        push(Arc::clone(&slot));
        let mut wait = WaitSlot::default();
        // SAFETY: the slot outlives the record, and the half in the line keeps the lane.
        unsafe { wait.waits(|| slot.cause(turn)) };
        Self { wait, slot: Some(slot) }
    }

    /// Returns the outcome, once, or stores `waker` to be woken when it is there. `turn` names the awaited
    /// turn again.
    ///
    /// # Errors
    ///
    /// If the wait would never end.
    pub(super) fn poll<'a>(
        mut self,
        waker: &Waker,
        turn: impl FnOnce() -> Turn<'a>,
    ) -> Result<Result<Outcome<Result<R, InUse>>, Self>, CallError> {
        let told = self.wait.begins_poll();
        let slot = self.slot.as_ref().expect("it has no outcome yet");
        match (slot.poll(waker), told) {
            (Some(outcome), _) => {
                self.wait.end();
                self.slot = None;
                Ok(Ok(outcome))
            }
            (None, Some(deadlock)) => Err(CallError::Deadlock(deadlock)),
            (None, None) => {
                // SAFETY: as in `push`.
                unsafe { self.wait.waits(|| slot.cause(turn())) };
                Ok(Err(self))
            }
        }
    }
}

impl<F, R> Drop for Queued<F, R> {
    fn drop(&mut self) {
        if let Some(slot) = &self.slot {
            slot.abandon();
        }
    }
}

/// The half that waits in the color's line. A shutdown drops it without running it.
struct Posted<F, R, Q> {
    slot: Shared<F, R>,
    has_come: bool,
    /// It may keep the last clones of cells, so it is dropped after the caller has been told.
    run: Q,
}

impl<F, R, Q: Fn(F) -> Result<R, InUse>> Posted<F, R, Q> {
    fn run(mut self) {
        self.has_come = true;
        if let Some(f) = self.slot.begin() {
            let result = catch_unwind(AssertUnwindSafe(|| (self.run)(f)));
            self.slot.settle(result.into());
        }
    }
}

impl<F, R, Q> Drop for Posted<F, R, Q> {
    fn drop(&mut self) {
        if !self.has_come
            && let Some(f) = self.slot.begin()
        {
            contain(|| drop(f));
            self.slot.settle(Outcome::Cancelled);
        }
    }
}
