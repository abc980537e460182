//! A channel whose values go to every receiver: [`tokio::sync::broadcast`].

use super::waiting::Wait;
use super::wrapper::{clone, convert, debug, deref};
use crate::wait_reason::Kind;
use tokio::sync::broadcast;

pub use tokio::sync::broadcast::error;

/// The sending half; there may be several.
pub struct Sender<T>(broadcast::Sender<T>);

deref!([T] Sender<T> => broadcast::Sender<T>);
convert!([T] Sender<T> => broadcast::Sender<T>);
debug!([T] Sender<T>);
clone!([T] Sender<T>);

/// A sender that does not keep the channel open.
pub struct WeakSender<T>(broadcast::WeakSender<T>);

deref!([T] WeakSender<T> => broadcast::WeakSender<T>);
convert!([T] WeakSender<T> => broadcast::WeakSender<T>);
debug!([T] WeakSender<T>);
clone!([T] WeakSender<T>);

/// The receiving half; there may be several, and each gets every value.
pub struct Receiver<T>(broadcast::Receiver<T>);

deref!([T] Receiver<T> => broadcast::Receiver<T>);
convert!([T] Receiver<T> => broadcast::Receiver<T>);
debug!([T] Receiver<T>);

/// A new channel, which keeps this many values for its slowest receiver.
///
/// # Panics
///
/// If `capacity` is 0 or more than `usize::MAX / 2`.
#[must_use]
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = broadcast::channel(capacity);
    (Sender(sender), Receiver(receiver))
}

impl<T> Sender<T> {
    /// The sending half of a channel that has no receiver yet.
    ///
    /// # Panics
    ///
    /// As [`channel`].
    #[must_use]
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Self(broadcast::Sender::new(capacity))
    }

    /// A receiver of the values that are sent from now on.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver(self.0.subscribe())
    }

    /// A sender that does not keep the channel open.
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(self.0.downgrade())
    }

    /// Waits until no receiver is left. Cancel safe.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        Wait::here(Kind::Notified).until(self.0.closed())
    }
}

impl<T> WeakSender<T> {
    /// A sender, if there still is one.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.0.upgrade().map(Sender)
    }
}

impl<T: Clone> Receiver<T> {
    /// A receiver of the values that are sent from now on.
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        Self(self.0.resubscribe())
    }

    /// Waits for the next value. Cancel safe.
    ///
    /// # Errors
    ///
    /// If this receiver has missed values, and if no sender is left.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, error::RecvError>> {
        Wait::here(Kind::Receive).until(self.0.recv())
    }
}
