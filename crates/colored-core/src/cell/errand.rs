//! [`Errand`]: a closure that somebody under a color runs for a caller, who waits.
//!
//! For what has a line of its own, as a mailbox: whoever serves it runs under one color from the moment
//! at which the closure is sent. So the caller waits for that color, and is recorded as such, until the
//! closure begins or is dropped.

use super::access::CallError;
use super::slot::{Outcome, Slot};
use crate::color::Color;
use crate::contain::contain;
use crate::lane::LaneRef;
use crate::sched::waits::{self, Turn};
use crate::sched::{self, Handle};
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::task::{Context, Poll, Waker};
use std::thread;

/// A color of a runtime. It keeps the color's lane.
#[derive(Clone)]
pub struct Address(LaneRef);

impl Address {
    /// A color in the runtime of `handle`.
    #[must_use]
    pub fn new(handle: &Handle, color: Color) -> Self {
        Self(handle.lane(color))
    }

    /// The color under which [`spawn_local`](crate::spawn_local) spawns here; `None` where it does not.
    #[must_use]
    pub fn local() -> Option<Self> {
        sched::local_lane().map(Self)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.0.color()).finish()
    }
}

/// A closure that is sent to a color, and where its result is left. Shared by who sends and who runs it.
pub struct Errand<F, R>(Slot<F, R>);

impl<F, R> Errand<F, R> {
    /// Of a caller whom `waker` wakes.
    #[must_use]
    pub fn new(f: F, waker: Waker) -> Self {
        Self(Slot::new(f, waker, None))
    }

    /// Its turn has come: runs it, if somebody waits for it, by `run`. Once, and not beside
    /// [`cancel`](Self::cancel).
    pub fn run(&self, run: impl FnOnce(F) -> R) {
        if let Some(f) = self.0.begin() {
            self.0.settle(catch_unwind(AssertUnwindSafe(|| run(f))).into());
        }
    }

    /// It is not run: the closure is dropped here.
    pub fn cancel(&self) {
        if let Some(f) = self.0.begin() {
            contain(|| drop(f));
            self.0.settle(Outcome::Cancelled);
        }
    }

    /// What it returned or panicked with. While it has not begun, the calling task is recorded to
    /// wait for the color of `home`, if there is one; `how` and `site` say so in a
    /// [`Deadlock`](crate::Deadlock). `home` is asked while the closure is kept from being run or
    /// dropped, and keeps its lane for as long.
    ///
    /// # Errors
    ///
    /// [`CallError::ShutDown`] if it was cancelled, [`CallError::Deadlock`] if it would never begin.
    /// The caller then does not poll it again.
    pub fn poll(
        &self,
        cx: &Context<'_>,
        how: &'static str,
        site: &'static Location<'static>,
        home: impl FnOnce() -> Option<Address>,
    ) -> Poll<Result<thread::Result<R>, CallError>> {
        if waits::are_watched() {
            let recorded = self.0.record_again(|before| match home() {
                Some(Address(lane)) => {
                    waits::queued(before, Turn { lane: &lane, shared: false, how, site })
                }
                None => Ok(None),
            });
            if let Err(deadlock) = recorded {
                return Poll::Ready(Err(CallError::Deadlock(deadlock)));
            }
        }
        match self.0.poll(cx.waker()) {
            Some(Outcome::Done(result)) => Poll::Ready(Ok(Ok(result))),
            Some(Outcome::Panicked(payload)) => Poll::Ready(Ok(Err(payload))),
            Some(Outcome::Cancelled) => Poll::Ready(Err(CallError::ShutDown)),
            None => Poll::Pending,
        }
    }

    /// The caller does not wait any longer. A closure that has not begun is dropped when its turn comes.
    pub fn abandon(&self) {
        self.0.abandon();
    }
}

impl<F, R> fmt::Debug for Errand<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errand").finish_non_exhaustive()
    }
}
