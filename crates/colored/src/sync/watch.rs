//! A value that tasks watch: [`tokio::sync::watch`].

use super::waiting::Wait;
use super::wrapper::{clone, convert, deref};
use crate::wait_reason::Kind;
use tokio::sync::watch;

pub use tokio::sync::watch::{Ref, error};

/// The half that sets the value; there may be several.
#[derive(Debug, Default)]
pub struct Sender<T>(watch::Sender<T>);

deref!([T] Sender<T> => watch::Sender<T>);
convert!([T] Sender<T> => watch::Sender<T>);
clone!([T] Sender<T>);

/// The half that sees the latest value; there may be several.
#[derive(Debug)]
pub struct Receiver<T>(watch::Receiver<T>);

deref!([T] Receiver<T> => watch::Receiver<T>);
convert!([T] Receiver<T> => watch::Receiver<T>);
clone!([T] Receiver<T>);

/// A new channel, whose first value counts as seen.
#[must_use]
pub fn channel<T>(first: T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = watch::channel(first);
    (Sender(sender), Receiver(receiver))
}

impl<T> Sender<T> {
    /// The setting half of a channel that has no receiver yet.
    #[must_use]
    pub fn new(first: T) -> Self {
        Self(watch::Sender::new(first))
    }

    /// A receiver, for which the present value counts as seen.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver(self.0.subscribe())
    }

    /// Waits until no receiver is left. Cancel safe.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        Wait::here(Kind::Notified).until(self.0.closed())
    }
}

impl<T> Receiver<T> {
    /// Waits for a value that this receiver has not seen, and marks it as seen. Cancel safe.
    ///
    /// # Errors
    ///
    /// If no sender is left, and the latest value has been seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), error::RecvError>> {
        Wait::here(Kind::Receive).until(self.0.changed())
    }

    /// Waits until the value is `wanted`, and marks it as seen. Cancel safe.
    ///
    /// # Errors
    ///
    /// If no sender is left, and the latest value is not wanted.
    #[track_caller]
    pub fn wait_for(
        &mut self,
        wanted: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, error::RecvError>> {
        Wait::here(Kind::Receive).until(self.0.wait_for(wanted))
    }
}
