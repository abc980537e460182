//! The futures that wait for room.

use super::Limit;
use super::permit::Permit;
use crate::error::{Closed, RoomError};
use crate::semaphore::{Refused, Waited};
use crate::wait_queue::WaiterId;
use colored_core::port::{How, RoomWait, WaitingTask};
use colored_core::{JoinHandle, budget};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The future of [`Limit::reserve`].
#[must_use = "futures do nothing unless awaited"]
pub struct Reserve<'a>(TryWait<'a>);

/// The future of [`Limit::try_wait`].
#[must_use = "futures do nothing unless awaited"]
pub struct TryWait<'a> {
    limit: &'a Limit,
    waiter: Option<WaiterId>,
    site: &'static Location<'static>,
}

impl<'a> Reserve<'a> {
    #[track_caller]
    pub(super) fn new(limit: &'a Limit) -> Self {
        Self(TryWait::new(limit))
    }
}

impl<'a> TryWait<'a> {
    #[track_caller]
    pub(super) fn new(limit: &'a Limit) -> Self {
        Self { limit, waiter: None, site: Location::caller() }
    }

    /// Records the wait of this task. Returns the task from the first section on.
    fn record_wait(&self, wait: &mut RoomWait) -> Option<WaitingTask> {
        const HOW: &How = &How::new("waits for room in a limit of");
        let inner = &self.limit.inner;
        wait.record_wait(HOW, self.site, inner);
        let is_known = inner.handle.scheduler().has_had_sections();
        is_known.then(WaitingTask::current).flatten()
    }

    fn give_up(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            self.limit.inner.release(|semaphore| semaphore.cancel(waiter));
        }
    }
}

impl Future for Reserve<'_> {
    type Output = Result<Permit, Closed<()>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut self.0;
        Poll::Ready(match ready!(Pin::new(&mut *this).poll(cx)) {
            Ok(permit) => Ok(permit),
            Err(RoomError::Closed) => Err(Closed(())),
            Err(RoomError::Deadlock(deadlock)) => {
                panic!("the wait for room in {:?} at {}: {deadlock}", this.limit, this.site)
            }
        })
    }
}

impl Future for TryWait<'_> {
    type Output = Result<Permit, RoomError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(budget::poll_proceed(cx));
        let this = &mut *self;
        let inner = &this.limit.inner;
        if inner.address.is_current() {
            // The task may have begun to wait elsewhere, and hopped here.
            this.give_up();
            return Poll::Ready(match inner.semaphore.enter_over() {
                Ok(()) => Ok(Permit::of(inner)),
                Err(_) => Err(RoomError::Closed),
            });
        }
        let waited = match this.waiter.take() {
            None => inner.semaphore.enter_or_wait(cx.waker(), |wait| this.record_wait(wait)),
            Some(waiter) => inner.semaphore.look(waiter, cx.waker(), |wait| this.record_wait(wait)),
        };
        match waited {
            Waited::Entered => Poll::Ready(Ok(Permit::of(inner))),
            Waited::Closed => Poll::Ready(Err(RoomError::Closed)),
            Waited::Deadlock(deadlock) => Poll::Ready(Err(RoomError::Deadlock(deadlock))),
            Waited::Waits(waiter) => {
                this.waiter = Some(waiter);
                budget::give_back();
                Poll::Pending
            }
        }
    }
}

impl Drop for TryWait<'_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl fmt::Debug for Reserve<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserve").field("limit", self.0.limit).finish_non_exhaustive()
    }
}

impl fmt::Debug for TryWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryWait").field("limit", self.limit).finish_non_exhaustive()
    }
}

impl Limit {
    /// Enters without waiting.
    pub(super) fn enter(&self) -> Result<Permit, Refused> {
        let inner = &self.inner;
        if inner.address.is_current() {
            inner.semaphore.enter_over()
        } else {
            inner.semaphore.try_enter()
        }?;
        Ok(Permit::of(inner))
    }
}

pub(super) const TWICE: &str = "polled again after it had given its result";

/// The future of [`Limit::spawn`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Spawn<'a, F> {
    reserve: Reserve<'a>,
    future: Option<F>,
}

impl<'a, F> Spawn<'a, F> {
    #[track_caller]
    pub(super) fn new(limit: &'a Limit, future: F) -> Self {
        Self { reserve: limit.reserve(), future: Some(future) }
    }
}

// The future is pinned when it is a task.
impl<F> Unpin for Spawn<'_, F> {}

impl<F> Future for Spawn<'_, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = Result<JoinHandle<F::Output>, Closed<F>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let permit = ready!(Pin::new(&mut self.reserve).poll(cx));
        let future = self.future.take().expect(TWICE);
        Poll::Ready(match permit {
            Ok(permit) => Ok(permit.spawn(future)),
            Err(Closed(())) => Err(Closed(future)),
        })
    }
}
