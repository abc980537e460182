//! [`RemoteCall`], [`RemoteCallWait`]: a closure that another task runs under a color for a waiting caller.
//!
//! A remote call serves types with a queue of their own, such as a mailbox, whose server runs under one
//! color from the moment at which the closure is sent. So the caller waits for that color, and is recorded
//! as such, until the closure begins or is dropped.

use super::access::CallError;
use super::slot::{Outcome, Slot};
use crate::contain::contain;
use crate::lane::Address;
use crate::sync::Arc;
use crate::task::How;
use crate::wait::{Turn, WaitSlot};
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::task::{Context, Poll, Waker};
use std::thread;

/// A closure that is sent to a color. Its receiver runs or drops it.
pub struct RemoteCall<F, R>(Option<Arc<Slot<F, R>>>);

/// The caller's side of a [`RemoteCall`], which gets the result. If it is dropped, a closure that has not
/// begun is dropped at its turn.
pub struct RemoteCallWait<F, R> {
    /// Dropped before the other fields.
    wait: WaitSlot,
    home: Option<Address>,
    slot: Arc<Slot<F, R>>,
}

impl<F, R> RemoteCallWait<F, R> {
    /// Makes a closure and its caller's side; `waker` wakes the caller.
    #[must_use]
    pub fn new(f: F, waker: Waker) -> (Self, RemoteCall<F, R>) {
        let slot = Arc::new(Slot::new(f, waker));
        let remote = RemoteCall(Some(Arc::clone(&slot)));
        (Self { wait: WaitSlot::default(), home: None, slot }, remote)
    }

    /// Polls for the result or the panic of the closure. Until the closure begins, the calling task
    /// waits for the color of `home`, if there is one; a [`Deadlock`](crate::Deadlock) names `site`.
    ///
    /// # Errors
    ///
    /// [`CallError::ShutDown`] if the closure was dropped, [`CallError::Deadlock`] if it would never
    /// begin. The caller must not poll again then.
    pub fn poll(
        &mut self,
        cx: &Context<'_>,
        site: &'static Location<'static>,
        home: impl FnOnce() -> Option<Address>,
    ) -> Poll<Result<thread::Result<R>, CallError>> {
        const HOW: &How = &How { text: "calls a pinned cell of", is_shared: false };
        let told = self.wait.begins_poll();
        let result = match (self.slot.poll(cx.waker()), told) {
            (Some(Outcome::Done(result)), _) => Ok(Ok(result)),
            (Some(Outcome::Panicked(payload)), _) => Ok(Err(payload)),
            (Some(Outcome::Cancelled), _) => Err(CallError::ShutDown),
            (None, Some(deadlock)) => Err(CallError::Deadlock(deadlock)),
            (None, None) => {
                self.home = self.home.take().or_else(home);
                if let Some(home) = &self.home {
                    let turn = Turn { lane: home.lane(), how: HOW, site };
                    // SAFETY: the record is dropped before the slot and the lane.
                    unsafe { self.wait.waits(|| self.slot.cause(turn)) };
                }
                return Poll::Pending;
            }
        };
        self.wait.end();
        Poll::Ready(result)
    }
}

impl<F, R> Drop for RemoteCallWait<F, R> {
    fn drop(&mut self) {
        self.wait.end();
        // The slot may hold a result that was never taken.
        contain(|| self.slot.abandon());
    }
}

impl<F, R> RemoteCall<F, R> {
    /// Runs the closure by `run`, unless its caller is gone. Its turn has come.
    pub fn run(mut self, run: impl FnOnce(F) -> R) {
        if let Some(slot) = self.0.take()
            && let Some(f) = slot.begin()
        {
            slot.settle(catch_unwind(AssertUnwindSafe(|| run(f))).into());
        }
    }
}

impl<F, R> Drop for RemoteCall<F, R> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take()
            && let Some(f) = slot.begin()
        {
            contain(|| drop(f));
            slot.settle(Outcome::Cancelled);
        }
    }
}

impl<F, R> fmt::Debug for RemoteCall<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCall").finish_non_exhaustive()
    }
}

impl<F, R> fmt::Debug for RemoteCallWait<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCallWait").finish_non_exhaustive()
    }
}
