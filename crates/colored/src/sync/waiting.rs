//! [`Waiting`]: a future of tokio's, with our cooperative budget and a place in dumps.

use crate::budget;
use crate::wait_reason::{self, Kind, Note, Reason};
use pin_project_lite::pin_project;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc::{self, error::SendError};

/// What the caller waits for, and where.
#[derive(Clone, Copy)]
pub(super) struct Wait(Reason);

impl Wait {
    /// A wait for `kind` at the caller's place.
    #[inline]
    #[track_caller]
    pub(super) fn here(kind: Kind) -> Self {
        Self::at(Location::caller(), kind)
    }

    /// A wait for `kind` that dumps show with this place.
    #[inline]
    pub(super) fn at(site: &'static Location<'static>, kind: Kind) -> Self {
        Self(Reason::new(kind, 0).at(site))
    }

    /// A wait for this lock at the caller's place.
    #[inline]
    #[track_caller]
    pub(super) fn for_lock<T: ?Sized>(lock: &T) -> Self {
        let number = wait_reason::number_of_lock(lock);
        Self(Reason::new(Kind::Lock, number).at(Location::caller()))
    }

    /// A wait for a permit of this semaphore at the caller's place.
    #[inline]
    #[track_caller]
    pub(super) fn for_permit<T: ?Sized>(semaphore: &T) -> Self {
        let number = wait_reason::number_of_lock(semaphore) | wait_reason::IS_PERMIT;
        Self(Reason::new(Kind::Lock, number).at(Location::caller()))
    }

    /// As [`here`](Self::here), where the future may also run code of the caller, whose own waits count.
    #[inline]
    #[track_caller]
    pub(super) fn around(kind: Kind) -> Self {
        Self(Self::here(kind).0.as_guard())
    }

    /// Polls with one unit of the budget, which is returned if there was nothing to do. A poll that is pending notes
    /// the wait in its task.
    #[inline]
    pub(super) fn poll<T>(
        self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        metered(cx, |cx| {
            let polled = poll(cx);
            if polled.is_pending() {
                self.0.note();
            }
            polled
        })
    }

    /// `future`, polled in this way.
    #[inline]
    pub(super) fn until<F>(self, future: F) -> Waiting<F> {
        Waiting { note: Note::of(self.0), future }
    }

    /// Sends a value. A dropped wait has not sent it.
    pub(super) async fn send<T>(
        self,
        value: T,
        sender: &mpsc::Sender<T>,
    ) -> Result<(), SendError<T>> {
        match self.in_line(sender.reserve()).await {
            Ok(permit) => {
                permit.send(value);
                Ok(())
            }
            Err(_) => Err(SendError(value)),
        }
    }

    /// `future`, whose first poll takes a place in a line, also if no unit of the budget is left. It costs a unit when it is
    /// ready; until there is one, what it has got is kept. So its drop must give that back, as a guard does and a wake does not.
    #[inline]
    pub(super) fn in_line<F: Future>(self, future: F) -> InLine<F> {
        InLine { note: Note::of(self.0), future, output: Mutex::new(None) }
    }
}

/// Polls with one unit of the budget, which is returned if there was nothing to do.
#[inline]
fn metered<T>(cx: &mut Context<'_>, poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
    ready!(budget::poll_proceed(cx));
    let polled = poll(cx);
    if polled.is_pending() {
        budget::give_back();
    }
    polled
}

pin_project! {
    /// The future of [`Wait::until`].
    #[must_use = "futures do nothing unless awaited"]
    pub(super) struct Waiting<F> {
        note: Note,
        #[pin]
        future: F,
    }
}

impl<F> Waiting<F> {
    /// The future inside.
    #[inline]
    pub(super) fn inner(self: Pin<&mut Self>) -> Pin<&mut F> {
        self.project().future
    }
}

impl<F: Future> Future for Waiting<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        metered(cx, |cx| {
            let polled = this.future.poll(cx);
            this.note.record_poll(polled.is_pending());
            polled
        })
    }
}

pin_project! {
    /// The future of [`Wait::in_line`].
    #[must_use = "futures do nothing unless awaited"]
    pub(super) struct InLine<F: Future> {
        note: Note,
        #[pin]
        future: F,
        // Nobody locks it: in it the output need not be `Sync` for the future to be.
        output: Mutex<Option<F::Output>>,
    }
}

impl<F: Future> Future for InLine<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let kept = this.output.get_mut().unwrap_or_else(PoisonError::into_inner);
        let output = match kept.take() {
            Some(output) => output,
            None => {
                let polled = this.future.poll(cx);
                this.note.record_poll(polled.is_pending());
                ready!(polled)
            }
        };
        if budget::poll_proceed(cx).is_pending() {
            *kept = Some(output);
            return Poll::Pending;
        }
        Poll::Ready(output)
    }
}
