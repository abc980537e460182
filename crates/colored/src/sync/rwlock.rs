//! [`RwLock`].

use super::arc::{self, transparent};
use super::waiting::Wait;
use super::wrapper::{convert, debug, deref};
use super::{
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::sync::Arc;
use tokio::sync;

/// A lock for many readers or one writer, held across awaits: [`tokio::sync::RwLock`].
///
/// Waiting tasks get the lock in the order in which they asked; a reader behind a waiting writer waits for it. See
/// [`Mutex`](super::Mutex) for locks in sections, and [`ColorCell::read`](crate::ColorCell::read) for readers without a
/// lock.
#[derive(Default)]
#[repr(transparent)]
pub struct RwLock<T: ?Sized>(sync::RwLock<T>);

deref!([T: ?Sized] RwLock<T> => sync::RwLock<T>);
convert!([T] RwLock<T> => sync::RwLock<T>);
debug!([T: ?Sized + std::fmt::Debug] RwLock<T>);
transparent!([T: ?Sized] RwLock<T> => sync::RwLock<T>);

impl<T> RwLock<T> {
    /// An open lock around `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self(sync::RwLock::new(value))
    }

    /// An open lock that so many readers may have at once.
    ///
    /// # Panics
    ///
    /// If `most` is more than `u32::MAX >> 3`.
    #[track_caller]
    pub fn with_max_readers(value: T, most: u32) -> Self {
        Self(sync::RwLock::with_max_readers(value, most))
    }

    /// As [`new`](Self::new), for a `static`.
    #[must_use]
    pub const fn const_new(value: T) -> Self {
        Self(sync::RwLock::const_new(value))
    }

    /// As [`with_max_readers`](Self::with_max_readers), for a `static`.
    ///
    /// # Panics
    ///
    /// As `with_max_readers`.
    #[must_use]
    pub const fn const_with_max_readers(value: T, most: u32) -> Self {
        Self(sync::RwLock::const_with_max_readers(value, most))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits for the lock, for reading. Cancel safe: a dropped wait loses its place in the line.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        Wait::for_lock(&self.0).in_line(self.0.read())
    }

    /// Waits for the lock, for writing. Cancel safe: a dropped wait loses its place in the line.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        Wait::for_lock(&self.0).in_line(self.0.write())
    }

    /// As [`read`](Self::read), with a guard that keeps a counted reference. Cancel safe in the same way.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        Wait::for_lock(&self.0).in_line(arc::inner(self).read_owned())
    }

    /// As [`write`](Self::write), with a guard that keeps a counted reference. Cancel safe in the same way.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        Wait::for_lock(&self.0).in_line(arc::inner(self).write_owned())
    }

    /// Takes the lock for reading, if no writer has it or waits for it.
    ///
    /// # Errors
    ///
    /// If one does.
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        arc::inner(self).try_read_owned()
    }

    /// Takes the lock for writing, if it is open.
    ///
    /// # Errors
    ///
    /// If it is held.
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        arc::inner(self).try_write_owned()
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
