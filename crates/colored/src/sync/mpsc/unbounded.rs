//! A channel without a bound.

use super::super::waiting::Wait;
use super::super::wrapper::{clone, convert, debug, deref};
use super::error::SendError;
use crate::wait_reason::Kind;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// A sending half. Its `send` never waits.
pub struct UnboundedSender<T>(mpsc::UnboundedSender<T>);

deref!([T] UnboundedSender<T> => mpsc::UnboundedSender<T>);
convert!([T] UnboundedSender<T> => mpsc::UnboundedSender<T>);
debug!([T] UnboundedSender<T>);
clone!([T] UnboundedSender<T>);

/// A sender that does not keep the channel open.
pub struct WeakUnboundedSender<T>(mpsc::WeakUnboundedSender<T>);

deref!([T] WeakUnboundedSender<T> => mpsc::WeakUnboundedSender<T>);
convert!([T] WeakUnboundedSender<T> => mpsc::WeakUnboundedSender<T>);
debug!([T] WeakUnboundedSender<T>);
clone!([T] WeakUnboundedSender<T>);

/// The receiving half.
pub struct UnboundedReceiver<T>(mpsc::UnboundedReceiver<T>);

deref!([T] UnboundedReceiver<T> => mpsc::UnboundedReceiver<T>);
convert!([T] UnboundedReceiver<T> => mpsc::UnboundedReceiver<T>);
debug!([T] UnboundedReceiver<T>);

/// A new channel. A receiver that is slower than its senders lets it grow without end.
#[must_use]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (UnboundedSender(sender), UnboundedReceiver(receiver))
}

impl<T> UnboundedReceiver<T> {
    /// Waits for the next value; `None` if no sender is left and the channel is empty, or it is closed and empty. Cancel
    /// safe.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        Wait::here(Kind::Receive).until(self.0.recv())
    }

    /// Waits for values, and appends up to `limit` of them to `buffer`. Returns their number; 0 if there will be none,
    /// or if `limit` is 0. Cancel safe.
    #[track_caller]
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
        Wait::here(Kind::Receive).until(self.0.recv_many(buffer, limit))
    }

    /// As [`recv`](Self::recv), for a future that is written by hand. Only the last task to poll is woken.
    #[track_caller]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        Wait::here(Kind::Receive).poll(cx, |cx| self.0.poll_recv(cx))
    }

    /// As [`recv_many`](Self::recv_many), for a future that is written by hand. Only the last task to poll is woken.
    #[track_caller]
    pub fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        Wait::here(Kind::Receive).poll(cx, |cx| self.0.poll_recv_many(cx, buffer, limit))
    }
}

impl<T> UnboundedSender<T> {
    /// Sends the value. Never waits.
    ///
    /// # Errors
    ///
    /// The value, if the receiver is closed or gone.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.send(value)
    }

    /// Waits until the receiver is closed or gone. Cancel safe.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        Wait::here(Kind::Notified).until(self.0.closed())
    }

    /// A sender that does not keep the channel open.
    #[must_use]
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender(self.0.downgrade())
    }
}

impl<T> WeakUnboundedSender<T> {
    /// A sender, if there still is one.
    #[must_use]
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        self.0.upgrade().map(UnboundedSender)
    }
}
