//! [`Mutex`].

use super::arc::{self, transparent};
use super::waiting::Wait;
use super::wrapper::{convert, debug, deref};
use super::{MutexGuard, OwnedMutexGuard, TryLockError};
use std::sync::Arc;
use tokio::sync;

/// A lock that is held across awaits: [`tokio::sync::Mutex`].
///
/// Waiting tasks get the lock in the order in which they asked. State of one color needs none: see
/// [`ColorCell`](crate::ColorCell). A task that waits for a lock inside a section ([`exclusive`](crate::exclusive())) keeps
/// its color meanwhile: if a task of that color has the lock, both wait for ever, and no error tells them.
#[derive(Default)]
#[repr(transparent)]
pub struct Mutex<T: ?Sized>(sync::Mutex<T>);

deref!([T: ?Sized] Mutex<T> => sync::Mutex<T>);
convert!([T] Mutex<T> => sync::Mutex<T>);
debug!([T: ?Sized + std::fmt::Debug] Mutex<T>);
transparent!([T: ?Sized] Mutex<T> => sync::Mutex<T>);

impl<T> Mutex<T> {
    /// An open lock around `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// As [`new`](Self::new), for a `static`.
    #[must_use]
    pub const fn const_new(value: T) -> Self {
        Self(sync::Mutex::const_new(value))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock. Cancel safe: a dropped wait loses its place in the line.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        Wait::for_lock(&self.0).in_line(self.0.lock())
    }

    /// As [`lock`](Self::lock), with a guard that keeps a counted reference. Cancel safe in the same way.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        Wait::for_lock(&self.0).in_line(arc::inner(self).lock_owned())
    }

    /// Takes the lock if it is open.
    ///
    /// # Errors
    ///
    /// If it is held.
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        arc::inner(self).try_lock_owned()
    }

    /// Blocks the thread until it has the lock: see [the module](crate::sync#methods-that-block).
    ///
    /// # Panics
    ///
    /// Inside a task of a tokio runtime.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        arc::inner(self).blocking_lock_owned()
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
