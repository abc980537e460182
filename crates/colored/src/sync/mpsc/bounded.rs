//! A channel with a bound.

use super::super::wrapper::{convert, debug, deref};
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::halves::halves;
use super::{Permit, PermitIterator};
use crate::time::{Duration, timeout};

halves! {
    /// A sending half.
    Sender, WeakSender, Receiver
}

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
