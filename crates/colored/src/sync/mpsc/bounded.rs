//! A channel with a bound.

use super::super::ordered::Lines;
use super::super::waiting::Wait;
use super::super::wrapper::{debug, ordered, ordered_clone};
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::{Permit, PermitIterator};
use crate::time::{Duration, timeout};
use crate::wait_reason::Kind;
use std::future::poll_fn;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// A sending half.
pub struct Sender<T>(mpsc::Sender<T>, Lines<T>);

ordered!(Sender<T> => mpsc::Sender<T>);
debug!([T] Sender<T>);
ordered_clone!(Sender<T>);

/// A sender that does not keep the channel open.
pub struct WeakSender<T>(mpsc::WeakSender<T>, Lines<T>);

ordered!(WeakSender<T> => mpsc::WeakSender<T>);
debug!([T] WeakSender<T>);
ordered_clone!(WeakSender<T>);

/// The receiving half.
pub struct Receiver<T>(mpsc::Receiver<T>, Lines<T>);

ordered!(Receiver<T> => mpsc::Receiver<T>);
debug!([T] Receiver<T>);

/// Room for one value, with the sender that reserved it. Dropped, it gives the room back.
pub struct OwnedPermit<T>(mpsc::OwnedPermit<T>, Lines<T>);

ordered!(OwnedPermit<T> => mpsc::OwnedPermit<T>);
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
    let lines = Lines::new();
    (Sender(sender, lines.clone()), Receiver(receiver, lines))
}

impl<T> Receiver<T> {
    async fn receiving(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_ordered(cx)).await
    }

    fn poll_ordered(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.1.poll_recv(cx, |cx| self.0.poll_recv(cx))
    }

    /// Waits for the next value; `None` if no sender is left and the channel is empty, or it is closed and empty. Cancel
    /// safe.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        Wait::covered(Kind::Receive).until(self.receiving())
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
        Wait::covered(Kind::Receive).poll(cx, |cx| self.poll_ordered(cx))
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
        self.1.sending(value, &self.0, Wait::covered(Kind::Send))
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
        let Self(sender, lines) = self;
        let reserved =
            async { sender.reserve_owned().await.map(|permit| OwnedPermit(permit, lines)) };
        wait.in_line(reserved)
    }

    /// Takes room for one value if there is some.
    ///
    /// # Errors
    ///
    /// The sender, if the channel is full, or the receiver is closed or gone.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let Self(sender, lines) = self;
        lines.pass();
        match sender.try_reserve_owned() {
            Ok(permit) => Ok(OwnedPermit(permit, lines)),
            Err(TrySendError::Full(sender)) => Err(TrySendError::Full(Self(sender, lines))),
            Err(TrySendError::Closed(sender)) => Err(TrySendError::Closed(Self(sender, lines))),
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
        WeakSender(self.0.downgrade(), self.1.clone())
    }
}

impl<T> WeakSender<T> {
    /// A sender, if there still is one.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.1.pass();
        Some(Sender(self.0.upgrade()?, self.1.clone()))
    }
}

impl<T> OwnedPermit<T> {
    /// Sends the value into the room. Never waits.
    pub fn send(self, value: T) -> Sender<T> {
        Sender(self.0.send(value), self.1)
    }

    /// Gives the room back.
    pub fn release(self) -> Sender<T> {
        Sender(self.0.release(), self.1)
    }
}
