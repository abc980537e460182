//! A value that tasks watch: [`tokio::sync::watch`].

use super::waiting::Wait;
use super::wrapper::{clone, convert, debug, deref};
use crate::chance::{Releases, in_order, releasing};
use crate::wait_reason::Kind;
use std::fmt;
use tokio::sync::watch;

pub use tokio::sync::watch::{Ref, error};

/// The half that sets the value; there may be several.
#[derive(Default)]
pub struct Sender<T>(watch::Sender<T>, Releases);

deref!([T] Sender<T> => watch::Sender<T>);
debug!([T: fmt::Debug] Sender<T>);

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.clone().into()
    }
}

impl<T> From<watch::Sender<T>> for Sender<T> {
    fn from(sender: watch::Sender<T>) -> Self {
        Self(sender, Releases)
    }
}

impl<T> From<Sender<T>> for watch::Sender<T> {
    fn from(sender: Sender<T>) -> Self {
        sender.0
    }
}

/// The half that sees the latest value; there may be several.
pub struct Receiver<T>(watch::Receiver<T>);

deref!([T] Receiver<T> => watch::Receiver<T>);
convert!([T] Receiver<T> => watch::Receiver<T>);
debug!([T: fmt::Debug] Receiver<T>);
clone!([T] Receiver<T>);

/// A new channel, whose first value counts as seen.
#[must_use]
pub fn channel<T>(first: T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = watch::channel(first);
    (sender.into(), Receiver(receiver))
}

impl<T> Sender<T> {
    /// The setting half of a channel that has no receiver yet.
    #[must_use]
    pub fn new(first: T) -> Self {
        watch::Sender::new(first).into()
    }

    /// Sets the value, and wakes those that wait for a change.
    ///
    /// # Errors
    ///
    /// The value, if there is no receiver.
    pub fn send(&self, value: T) -> Result<(), error::SendError<T>> {
        releasing(|| self.0.send(value))
    }

    /// Sets the value, also if there is no receiver, and returns the value before.
    pub fn send_replace(&self, value: T) -> T {
        releasing(|| self.0.send_replace(value))
    }

    /// Changes the value in its place, also if there is no receiver. Nobody sees it meanwhile, so `change` should be quick.
    ///
    /// # Panics
    ///
    /// If `change` does. Then nobody is woken.
    pub fn send_modify(&self, change: impl FnOnce(&mut T)) {
        releasing(|| self.0.send_modify(change));
    }

    /// Changes the value in its place, and wakes those that wait if `change` returns true, which is returned.
    ///
    /// # Panics
    ///
    /// If `change` does. Then nobody is woken.
    pub fn send_if_modified(&self, change: impl FnOnce(&mut T) -> bool) -> bool {
        releasing(|| self.0.send_if_modified(change))
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
        Wait::here(Kind::Receive).until(in_order(self.0.changed()))
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
        Wait::here(Kind::Receive).until(in_order(self.0.wait_for(wanted)))
    }
}
