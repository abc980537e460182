//! [`Waiting`]: a future of tokio's, with our cooperative budget and a place in dumps.

use crate::budget;
use crate::wait_reason::{self, Kind};
use colored_core::Leaf;
use pin_project_lite::pin_project;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What the caller waits for, and where.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    kind: Kind,
    /// Which lock it is.
    arg: u32,
    site: &'static Location<'static>,
    /// Whether the caller may wait for something of its own meanwhile, which then counts.
    is_guard: bool,
}

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
        Self { kind, arg: 0, site, is_guard: false }
    }

    /// A wait for this lock at the caller's place.
    #[inline]
    #[track_caller]
    pub(super) fn for_lock<T: ?Sized>(lock: &T) -> Self {
        Self { arg: wait_reason::number_of_lock(lock), ..Self::here(Kind::Lock) }
    }

    /// A wait for a permit of this semaphore at the caller's place.
    #[inline]
    #[track_caller]
    pub(super) fn for_permit<T: ?Sized>(semaphore: &T) -> Self {
        let arg = wait_reason::number_of_lock(semaphore) | wait_reason::IS_PERMIT;
        Self { arg, ..Self::here(Kind::Lock) }
    }

    /// As [`here`](Self::here), where the future may also run code of the caller, whose own waits count.
    #[inline]
    #[track_caller]
    pub(super) fn around(kind: Kind) -> Self {
        Self { is_guard: true, ..Self::here(kind) }
    }

    /// Polls with one unit of the budget, which is returned if there was nothing to do. A poll that is pending notes
    /// the wait in its task.
    #[inline]
    pub(super) fn poll<T>(
        self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        ready!(budget::poll_proceed(cx));
        let polled = poll(cx);
        if polled.is_pending() {
            budget::give_back();
            colored_core::port::note(self.leaf(), self.is_guard);
        }
        polled
    }

    /// `future`, polled in this way.
    #[inline]
    pub(super) fn until<F>(self, future: F) -> Waiting<F> {
        Waiting { future, wait: self, is_noted: false }
    }

    fn leaf(self) -> Leaf {
        Leaf { site: Some(self.site), ..self.kind.leaf(self.arg) }
    }
}

pin_project! {
    /// The future of [`Wait::until`].
    #[must_use = "futures do nothing unless awaited"]
    pub(super) struct Waiting<F> {
        #[pin]
        future: F,
        wait: Wait,
        // The last poll has noted the wait.
        is_noted: bool,
    }

    impl<F> PinnedDrop for Waiting<F> {
        fn drop(this: Pin<&mut Self>) {
            if this.is_noted {
                let leaf = this.wait.leaf();
                colored_core::port::forget(|noted| noted == leaf);
            }
        }
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
        let polled = this.wait.poll(cx, |cx| this.future.poll(cx));
        *this.is_noted = polled.is_pending();
        polled
    }
}
