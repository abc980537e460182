//! A channel for one value: [`tokio::sync::oneshot`].

use super::waiting::Wait;
use super::wrapper::{convert, debug, deref};
use crate::wait_reason::Kind;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

pub use tokio::sync::oneshot::error;

/// The sending half.
pub struct Sender<T>(oneshot::Sender<T>);

deref!([T] Sender<T> => oneshot::Sender<T>);
convert!([T] Sender<T> => oneshot::Sender<T>);
debug!([T: std::fmt::Debug] Sender<T>);

/// The receiving half, and the future of the value. Cancel safe. A dump names the place where the channel was made.
pub struct Receiver<T>(oneshot::Receiver<T>, Site);

/// Where the channel was made. The place of a poll may be a combinator's.
#[derive(Clone, Copy)]
struct Site(&'static Location<'static>);

deref!([T] Receiver<T> => oneshot::Receiver<T>);
debug!([T: std::fmt::Debug] Receiver<T>);

impl<T> From<oneshot::Receiver<T>> for Receiver<T> {
    #[track_caller]
    fn from(theirs: oneshot::Receiver<T>) -> Self {
        Self(theirs, Site(Location::caller()))
    }
}

impl<T> From<Receiver<T>> for oneshot::Receiver<T> {
    fn from(ours: Receiver<T>) -> Self {
        ours.0
    }
}

/// A new channel.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = oneshot::channel();
    (Sender(sender), Receiver(receiver, Site(Location::caller())))
}

impl<T> Sender<T> {
    /// Sends the value. Never waits.
    ///
    /// # Errors
    ///
    /// The value, if the receiver is closed or gone.
    pub fn send(self, value: T) -> Result<(), T> {
        self.0.send(value)
    }

    /// Waits until the receiver is closed or gone. Cancel safe.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        Wait::here(Kind::Notified).until(self.0.closed())
    }
}

impl<T> Receiver<T> {
    /// Blocks the thread until the value is there: see [the module](crate::sync#methods-that-block).
    ///
    /// # Errors
    ///
    /// If the sender is gone.
    ///
    /// # Panics
    ///
    /// Inside a task of a tokio runtime.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, error::RecvError> {
        self.0.blocking_recv()
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, error::RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self(receiver, Site(made)) = &mut *self;
        Wait::at(made, Kind::Receive).poll(cx, |cx| Pin::new(receiver).poll(cx))
    }
}
