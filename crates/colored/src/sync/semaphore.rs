//! [`Semaphore`].

use super::arc::{self, transparent};
use super::waiting::Wait;
use super::wrapper::{convert, debug, deref};
use super::{AcquireError, OwnedSemaphorePermit, SemaphorePermit, TryAcquireError};
use std::sync::Arc;
use tokio::sync;

/// A number of permits: [`tokio::sync::Semaphore`].
///
/// Waiting tasks get permits in the order in which they asked. A bound of what runs under one color is a
/// [`Limit`](crate::limit::Limit).
#[repr(transparent)]
pub struct Semaphore(sync::Semaphore);

deref!([] Semaphore => sync::Semaphore);
convert!([] Semaphore => sync::Semaphore);
debug!([] Semaphore);
transparent!([] Semaphore => sync::Semaphore);

impl Semaphore {
    /// The most permits that a semaphore can have.
    pub const MAX_PERMITS: usize = sync::Semaphore::MAX_PERMITS;

    /// A semaphore with so many permits.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[must_use]
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Self(sync::Semaphore::new(permits))
    }

    /// As [`new`](Self::new), for a `static`.
    ///
    /// # Panics
    ///
    /// As `new`.
    #[must_use]
    pub const fn const_new(permits: usize) -> Self {
        Self(sync::Semaphore::const_new(permits))
    }

    /// Waits for a permit. Cancel safe: a dropped wait loses its place in the line.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, before or meanwhile.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        Wait::for_permit(&self.0).in_line(self.0.acquire())
    }

    /// Waits for so many permits. Cancel safe as [`acquire`](Self::acquire).
    ///
    /// # Errors
    ///
    /// As `acquire`.
    #[track_caller]
    pub fn acquire_many(
        &self,
        permits: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        Wait::for_permit(&self.0).in_line(self.0.acquire_many(permits))
    }

    /// As [`acquire`](Self::acquire), with a permit that keeps a counted reference. Cancel safe in the same way.
    ///
    /// # Errors
    ///
    /// As `acquire`.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        Wait::for_permit(&self.0).in_line(arc::inner(self).acquire_owned())
    }

    /// As [`acquire_many`](Self::acquire_many), with a permit that keeps a counted reference. Cancel safe in the same way.
    ///
    /// # Errors
    ///
    /// As `acquire`.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        permits: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        Wait::for_permit(&self.0).in_line(arc::inner(self).acquire_many_owned(permits))
    }

    /// Takes a permit if there is one.
    ///
    /// # Errors
    ///
    /// If there is none, or the semaphore is closed.
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        arc::inner(self).try_acquire_owned()
    }

    /// Takes so many permits if they are there.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_owned`](Self::try_acquire_owned).
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        permits: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        arc::inner(self).try_acquire_many_owned(permits)
    }

    /// Blocks the thread until it has a permit: see [the module](crate::sync#methods-that-block).
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// Inside a task of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        arc::inner(self).blocking_acquire_owned()
    }

    /// Blocks the thread until it has so many permits: see [the module](crate::sync#methods-that-block).
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// Inside a task of a tokio runtime.
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        permits: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        arc::inner(self).blocking_acquire_many_owned(permits)
    }
}
