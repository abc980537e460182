//! [`RemoteCall`], [`RemoteCallWait`]: a closure that another task runs under a color for a waiting caller.
//!
//! A remote call serves types with a queue of their own, such as a mailbox, whose server runs under one
//! color from the moment at which the closure is sent. So the caller waits for that color, and is recorded
//! as such, until the closure begins or is dropped.

use super::access::CallError;
use super::queued::{Queued, RemoteCall};
use super::slot::Outcome;
use crate::kernel::contain::contain;
use crate::kernel::lane::Address;
use crate::kernel::task::How;
use crate::kernel::wait::AwaitedTurn;
use std::fmt;
use std::panic::Location;
use std::task::{Context, Poll, Waker, ready};
use std::thread;

/// The caller's side of a [`RemoteCall`], which gets the result. If it is dropped, a closure that has not
/// begun is dropped at its turn.
pub struct RemoteCallWait<F, R> {
    /// Dropped before the lane that its record names.
    queued: Queued<F, R>,
    address: Option<Address>,
}

impl<F, R> RemoteCallWait<F, R> {
    /// Makes a closure and its caller's side; `waker` wakes the caller.
    #[must_use]
    pub fn new(f: F, waker: Waker) -> (Self, RemoteCall<F, R>) {
        let (queued, slot) = Queued::new(f, waker);
        (Self { queued, address: None }, RemoteCall::new(slot))
    }

    /// Polls for the result or the panic of the closure. Until the closure begins, the calling task
    /// waits for the color of `address`, if there is one; a [`Deadlock`](crate::Deadlock) names `site`.
    ///
    /// # Errors
    ///
    /// [`CallError::ShutDown`] if the closure was dropped, [`CallError::Deadlock`] if it would never
    /// begin. The caller must not poll again then.
    pub fn poll(
        &mut self,
        cx: &Context<'_>,
        site: &'static Location<'static>,
        address: impl FnOnce() -> Option<Address>,
    ) -> Poll<Result<thread::Result<R>, CallError>> {
        const HOW: &How = &How { text: "calls a pinned cell of", is_shared: false };
        let Self { queued, address: kept } = self;
        let turn = || {
            *kept = kept.take().or_else(address);
            kept.as_ref().map(|address| AwaitedTurn { lane: address.lane().ptr(), how: HOW, site })
        };
        Poll::Ready(match ready!(queued.poll(cx.waker(), turn))? {
            Outcome::Done(result) => Ok(Ok(result)),
            Outcome::Panicked(payload) => Ok(Err(payload)),
            Outcome::Cancelled => Err(CallError::ShutDown),
        })
    }
}

impl<F, R> Drop for RemoteCallWait<F, R> {
    fn drop(&mut self) {
        // The slot may hold a result that was never taken.
        contain(|| self.queued.abandon());
    }
}

impl<F, R> fmt::Debug for RemoteCallWait<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCallWait").finish_non_exhaustive()
    }
}
