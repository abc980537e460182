//! [`Sending`]: waiting for room.

use super::Stage;
use super::partition::Refused;
use super::run::is_inside;
use colored_core::budget;
use colored_limit::{Closed, WaiterId};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The future of [`Stage::send`].
#[must_use = "futures do nothing unless awaited"]
pub struct Sending<'a, E> {
    stage: &'a Stage<E>,
    event: Option<E>,
    /// The event's partition.
    index: usize,
    /// In the line of the partition.
    waiter: Option<WaiterId>,
}

impl<'a, E> Sending<'a, E> {
    #[track_caller]
    pub(super) fn new(stage: &'a Stage<E>, event: E) -> Self {
        let index = stage.shared().index_of(&event);
        Self { stage, event: Some(event), index, waiter: None }
    }
}

// The event is never pinned.
impl<E> Unpin for Sending<'_, E> {}

impl<E> Future for Sending<'_, E> {
    type Output = Result<(), Closed<E>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(budget::poll_proceed(cx));
        let this = &mut *self;
        let event = this.event.take().expect("polled again after it had given its result");
        let shared = this.stage.shared();
        let partition = &shared.partitions[this.index];
        let pushed = match this.waiter.take() {
            None => match partition.push(event, || is_inside(shared)) {
                Ok(()) => Ok(()),
                Err((event, Refused::Closed)) => Err((event, None)),
                Err((event, Refused::Full)) => partition.push_or_wait(event, cx.waker()),
            },
            Some(waiter) => partition.push_waited(event, waiter, cx.waker()),
        };
        match pushed {
            Ok(()) => Poll::Ready(Ok(())),
            Err((event, None)) => Poll::Ready(Err(Closed(event))),
            Err((event, Some(waiter))) => {
                this.event = Some(event);
                this.waiter = Some(waiter);
                budget::give_back();
                Poll::Pending
            }
        }
    }
}

impl<E> Drop for Sending<'_, E> {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            self.stage.shared().partitions[self.index].give_up(waiter);
        }
    }
}

impl<E> fmt::Debug for Sending<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("waits", &self.waiter.is_some()).finish_non_exhaustive()
    }
}
