//! `std`'s locks. A thread that finds one taken asks the watcher when to try again.

use crate::sync::watch::{Access, tell};
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{PoisonError, TryLockError};
use std::thread;

/// See `real.rs`.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock that is free.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let (address, place) = (std::ptr::from_ref(self).addr(), Location::caller().file());
        loop {
            tell(|watcher| watcher.access(address, Access::Exchange, place));
            let inner = match self.0.try_lock() {
                Ok(inner) => inner,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    thread::yield_now();
                    tell(|watcher| watcher.wait_for_lock(address, place));
                    continue;
                }
            };
            return MutexGuard { inner: Some(inner), address, place };
        }
    }
}

/// The right to use what a [`Mutex`] protects.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    inner: Option<std::sync::MutexGuard<'a, T>>,
    address: usize,
    place: &'static str,
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("there until it is dropped")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("there until it is dropped")
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            tell(|watcher| watcher.access(self.address, Access::Exchange, self.place));
            drop(self.inner.take());
            tell(|watcher| watcher.record_unlock(self.address, self.place));
        }
    }
}

/// See `real.rs`. Only threads inside `block_on` wait here; the watcher sees their lock, and not their sleep.
#[derive(Debug, Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let (address, place) = (guard.address, guard.place);
        let inner = guard.inner.take().expect("there until it is dropped");
        let inner = self.0.wait(inner).unwrap_or_else(PoisonError::into_inner);
        MutexGuard { inner: Some(inner), address, place }
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}
