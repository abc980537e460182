//! [`Notify`], and the futures that wait for it.

use super::arc::{self, transparent};
use super::waiting::{Wait, Waiting};
use super::wrapper::{convert, debug, deref};
use crate::wait_reason::Kind;
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync;

/// Wakes one task, or all that wait: [`tokio::sync::Notify`].
#[derive(Default)]
#[repr(transparent)]
pub struct Notify(sync::Notify);

deref!([] Notify => sync::Notify);
convert!([] Notify => sync::Notify);
debug!([] Notify);
transparent!([] Notify => sync::Notify);

impl Notify {
    /// A signal that nobody has given.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`new`](Self::new), for a `static`.
    #[must_use]
    pub const fn const_new() -> Self {
        Self(sync::Notify::const_new())
    }

    /// Waits for the signal. Cancel safe: a dropped wait loses its place in the line, and passes on a signal that it was
    /// given.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let waiting = Wait::here(Kind::Notified).until(self.0.notified());
        Notified { waiting }
    }

    /// As [`notified`](Self::notified), with a counted reference. Cancel safe in the same way.
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let waiting = Wait::here(Kind::Notified).until(arc::inner(self).notified_owned());
        OwnedNotified { waiting }
    }
}

pin_project! {
    /// The future of [`Notify::notified`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Notified<'a> {
        #[pin]
        waiting: Waiting<sync::futures::Notified<'a>>,
    }
}

impl Notified<'_> {
    /// Takes a place in the line now, and not at the first poll. Returns whether the signal is there already.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().waiting.inner().enable()
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().waiting.poll(cx)
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notified").finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of [`Notify::notified_owned`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct OwnedNotified {
        #[pin]
        waiting: Waiting<sync::futures::OwnedNotified>,
    }
}

impl OwnedNotified {
    /// Takes a place in the line now, and not at the first poll. Returns whether the signal is there already.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().waiting.inner().enable()
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().waiting.poll(cx)
    }
}

impl fmt::Debug for OwnedNotified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedNotified").finish_non_exhaustive()
    }
}
