//! A channel with a bound.

use super::super::waiting::Wait;
use super::super::wrapper::{clone, convert, debug, deref};
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::{Permit, PermitIterator};
use crate::time::{Duration, timeout};
use crate::wait_reason::Kind;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// A sending half.
pub struct Sender<T>(mpsc::Sender<T>);

deref!([T] Sender<T> => mpsc::Sender<T>);
convert!([T] Sender<T> => mpsc::Sender<T>);
debug!([T] Sender<T>);
clone!([T] Sender<T>);

/// A sender that does not keep the channel open.
pub struct WeakSender<T>(mpsc::WeakSender<T>);

deref!([T] WeakSender<T> => mpsc::WeakSender<T>);
convert!([T] WeakSender<T> => mpsc::WeakSender<T>);
debug!([T] WeakSender<T>);
clone!([T] WeakSender<T>);

/// The receiving half.
pub struct Receiver<T>(mpsc::Receiver<T>);

deref!([T] Receiver<T> => mpsc::Receiver<T>);
convert!([T] Receiver<T> => mpsc::Receiver<T>);
debug!([T] Receiver<T>);

/// Room for one value, with the sender that reserved it. Dropped, it gives the room back.
pub struct OwnedPermit<T>(mpsc::OwnedPermit<T>);

deref!([T] OwnedPermit<T> => mpsc::OwnedPermit<T>);
convert!([T] OwnedPermit<T> => mpsc::OwnedPermit<T>);
debug!([T] OwnedPermit<T>);

/// A new channel that has room for so many values.
///
/// # Panics
///
/// If `capacity` is 0 or more than [`Semaphore::MAX_PERMITS`](crate::sync::Semaphore::MAX_PERMITS).
#[must_use]
#[track_caller]
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(capacity);
    (Sender(sender), Receiver(receiver))
}

impl<T> Receiver<T> {
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

impl<T> Sender<T> {
    /// Waits for room, and sends. Senders get room in the order in which they asked. Not cancel safe: a dropped wait drops
    /// the value. [`reserve`](Self::reserve) keeps it.
    ///
    /// # Errors
    ///
    /// The value, if the receiver is closed or gone.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        Wait::here(Kind::Send).send(value, &self.0)
    }

    /// As [`send`](Self::send), and gives up when that much time has passed. Not cancel safe: a dropped wait drops the value.
    ///
    /// # Errors
    ///
    /// The value, if the time is over, or the receiver is closed or gone.
    ///
    /// # Panics
    ///
    /// When it has to wait outside of a runtime.
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        limit: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let room = timeout(limit, self.reserve());
        async {
            match room.await {
                Ok(Ok(permit)) => {
                    permit.send(value);
                    Ok(())
                }
                Ok(Err(_)) => Err(SendTimeoutError::Closed(value)),
                Err(_) => Err(SendTimeoutError::Timeout(value)),
            }
        }
    }

    /// Waits for room for one value. Cancel safe: a dropped wait loses its place in the line.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        Wait::here(Kind::Send).in_line(self.0.reserve())
    }

    /// Waits for room for so many values. Cancel safe as [`reserve`](Self::reserve).
    ///
    /// # Errors
    ///
    /// As `reserve`; and if the channel never has that much room.
    #[track_caller]
    pub fn reserve_many(
        &self,
        values: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        Wait::here(Kind::Send).in_line(self.0.reserve_many(values))
    }

    /// As [`reserve`](Self::reserve), with a permit that keeps the sender. Cancel safe: a dropped wait drops the sender.
    ///
    /// # Errors
    ///
    /// As `reserve`.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let wait = Wait::here(Kind::Send);
        let reserved = async { self.0.reserve_owned().await.map(OwnedPermit) };
        wait.in_line(reserved)
    }

    /// Takes room for one value if there is some.
    ///
    /// # Errors
    ///
    /// The sender, if the channel is full, or the receiver is closed or gone.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.0.try_reserve_owned() {
            Ok(permit) => Ok(OwnedPermit(permit)),
            Err(TrySendError::Full(sender)) => Err(TrySendError::Full(Self(sender))),
            Err(TrySendError::Closed(sender)) => Err(TrySendError::Closed(Self(sender))),
        }
    }

    /// Waits until the receiver is closed or gone. Cancel safe.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        Wait::here(Kind::Notified).until(self.0.closed())
    }

    /// A sender that does not keep the channel open.
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(self.0.downgrade())
    }
}

impl<T> WeakSender<T> {
    /// A sender, if there still is one.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.0.upgrade().map(Sender)
    }
}

impl<T> OwnedPermit<T> {
    /// Sends the value into the room. Never waits.
    pub fn send(self, value: T) -> Sender<T> {
        Sender(self.0.send(value))
    }

    /// Gives the room back.
    pub fn release(self) -> Sender<T> {
        Sender(self.0.release())
    }
}
