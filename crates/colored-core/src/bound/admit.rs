//! Waiting for room.

use super::error::{Closed, RoomError};
use super::gate::{Kept, Refused, Waited};
use super::line::Ticket;
use super::place::Place;
use super::{Bound, BoundedCell, Inner};
use crate::budget;
use crate::spawn::JoinHandle;
use crate::sync::{Arc, arc_dyn};
use crate::task::{Cause, How};
use crate::wait::WaitSlot;
use crate::wait::room::{Caller, Room};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

/// The future of [`Bound::reserve`].
#[must_use = "futures do nothing unless awaited"]
pub struct Reserve<'a>(TryWait<'a>);

/// The future of [`Bound::try_wait`].
#[must_use = "futures do nothing unless awaited"]
pub struct TryWait<'a> {
    bound: &'a Bound,
    ticket: Option<Ticket>,
    site: &'static Location<'static>,
}

impl<'a> Reserve<'a> {
    #[track_caller]
    pub(super) fn new(bound: &'a Bound) -> Self {
        Self(TryWait::new(bound))
    }
}

impl<'a> TryWait<'a> {
    #[track_caller]
    pub(super) fn new(bound: &'a Bound) -> Self {
        Self { bound, ticket: None, site: Location::caller() }
    }

    /// Records that this task waits.
    fn waits(&self, wait: &mut WaitSlot) -> Kept {
        const HOW: &How = &How { text: "waits for room in a bound of", is_shared: false };
        let inner = &self.bound.inner;
        let what = Arc::as_ptr(inner).cast();
        let cause =
            || Cause { how: HOW, site: self.site, kind: Inner::KIND, what, beside: ptr::null() };
        // SAFETY: kept beside the record.
        unsafe { wait.waits(cause) };
        let is_known = inner.handle.scheduler().has_had_sections();
        let caller = is_known.then(Caller::current).flatten();
        let _room = wait.record().map(|_| arc_dyn!(Arc::clone(inner) => dyn Room));
        Kept { caller, _room }
    }

    fn give_up(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.bound.inner.has_left(|gate| gate.cancel(ticket));
        }
    }
}

impl Future for Reserve<'_> {
    type Output = Result<Place, Closed<()>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut self.0;
        Poll::Ready(match ready!(Pin::new(&mut *this).poll(cx)) {
            Ok(place) => Ok(place),
            Err(RoomError::Closed) => Err(Closed(())),
            Err(RoomError::Deadlock(deadlock)) => {
                panic!("the wait for room in {:?} at {}: {deadlock}", this.bound, this.site)
            }
        })
    }
}

impl Future for TryWait<'_> {
    type Output = Result<Place, RoomError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(budget::poll_proceed(cx));
        let this = &mut *self;
        let inner = &this.bound.inner;
        if inner.lane.is_current() {
            // It may have begun to wait elsewhere, and hopped here.
            this.give_up();
            return Poll::Ready(match inner.gate.enter_over() {
                Ok(()) => Ok(Place::of(inner)),
                Err(_) => Err(RoomError::Closed),
            });
        }
        let waited = match this.ticket.take() {
            None => inner.gate.enter_or_wait(cx.waker(), |wait| this.waits(wait)),
            Some(ticket) => inner.gate.look(ticket, cx.waker(), |wait| this.waits(wait)),
        };
        match waited {
            Waited::Entered => Poll::Ready(Ok(Place::of(inner))),
            Waited::Closed => Poll::Ready(Err(RoomError::Closed)),
            Waited::Deadlock(deadlock) => Poll::Ready(Err(RoomError::Deadlock(deadlock))),
            Waited::Waits(ticket) => {
                this.ticket = Some(ticket);
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
        f.debug_struct("Reserve").field("bound", self.0.bound).finish_non_exhaustive()
    }
}

impl fmt::Debug for TryWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryWait").field("bound", self.bound).finish_non_exhaustive()
    }
}

impl Bound {
    /// Goes in without waiting.
    pub(super) fn enter(&self) -> Result<Place, Refused> {
        let inner = &self.inner;
        if inner.lane.is_current() { inner.gate.enter_over() } else { inner.gate.try_enter() }?;
        Ok(Place::of(inner))
    }
}

const TWICE: &str = "polled again after it had given its result";

/// The future of [`Bound::spawn`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Spawn<'a, F> {
    reserve: Reserve<'a>,
    future: Option<F>,
}

impl<'a, F> Spawn<'a, F> {
    #[track_caller]
    pub(super) fn new(bound: &'a Bound, future: F) -> Self {
        Self { reserve: bound.reserve(), future: Some(future) }
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
        let place = ready!(Pin::new(&mut self.reserve).poll(cx));
        let future = self.future.take().expect(TWICE);
        Poll::Ready(match place {
            Ok(place) => Ok(place.spawn(future)),
            Err(Closed(())) => Err(Closed(future)),
        })
    }
}

/// The future of [`BoundedCell::post`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Post<'a, T: Send + 'static, F> {
    reserve: Reserve<'a>,
    cell: &'a BoundedCell<T>,
    f: Option<F>,
}

impl<'a, T: Send + 'static, F> Post<'a, T, F> {
    #[track_caller]
    pub(super) fn new(cell: &'a BoundedCell<T>, f: F) -> Self {
        Self { reserve: cell.bound().reserve(), cell, f: Some(f) }
    }
}

// The closure is never pinned.
impl<T: Send + 'static, F> Unpin for Post<'_, T, F> {}

impl<T, F> Future for Post<'_, T, F>
where
    T: Send + 'static,
    F: FnOnce(&mut T) + Send + 'static,
{
    type Output = Result<(), Closed<F>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let place = ready!(Pin::new(&mut self.reserve).poll(cx));
        let f = self.f.take().expect(TWICE);
        Poll::Ready(match place {
            Ok(place) => {
                self.cell.post_with(place, f);
                Ok(())
            }
            Err(Closed(())) => Err(Closed(f)),
        })
    }
}
