//! [`Waiting`]: a future of tokio's, with our cooperative budget and a place in dumps.

use crate::budget;
use crate::order;
use crate::wait_reason::{self, Kind, Note, Reason};
use pin_project_lite::pin_project;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What the caller waits for, and where.
#[derive(Clone, Copy)]
pub(super) struct Wait(Reason);

impl Wait {
    /// A wait for `kind` at the caller's place.
    #[inline]
    #[track_caller]
    pub(super) fn here(kind: Kind) -> Self {
        order::refuse("a wait for a channel or a signal of this kind");
        Self::covered(kind)
    }

    /// As [`here`](Self::here), for a wait that a record covers.
    #[inline]
    #[track_caller]
    pub(super) fn covered(kind: Kind) -> Self {
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
        order::refuse("a lock");
        let number = wait_reason::number_of_lock(lock);
        Self(Reason::new(Kind::Lock, number).at(Location::caller()))
    }

    /// A wait for a permit of this semaphore at the caller's place.
    #[inline]
    #[track_caller]
    pub(super) fn for_permit<T: ?Sized>(semaphore: &T) -> Self {
        order::refuse("a semaphore");
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
