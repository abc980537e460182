//! `std`'s `Arc`: a clone and a drop change its count.

use crate::sync::watch::{Access, tell};
use std::ops::Deref;
use std::panic::Location;

/// A shared owner.
#[derive(Debug)]
pub struct Arc<T: ?Sized>(std::sync::Arc<T>);

#[allow(missing_docs, reason = "as in `std`")]
impl<T> Arc<T> {
    pub fn new(value: T) -> Self {
        Self(std::sync::Arc::new(value))
    }
}

#[allow(missing_docs, reason = "as in `std`")]
#[allow(dead_code, reason = "what some crates need")]
impl<T: ?Sized> Arc<T> {
    pub(crate) fn from_std(arc: std::sync::Arc<T>) -> Self {
        Self(arc)
    }

    pub(crate) fn into_std(arc: &Self) -> std::sync::Arc<T> {
        std::sync::Arc::clone(&arc.0)
    }

    pub fn into_raw(arc: Self) -> *const T {
        std::sync::Arc::into_raw(Self::into_std(&arc))
    }

    pub fn as_ptr(arc: &Self) -> *const T {
        std::sync::Arc::as_ptr(&arc.0)
    }

    pub fn ptr_eq(one: &Self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&one.0, &other.0)
    }

    pub fn strong_count(arc: &Self) -> usize {
        std::sync::Arc::strong_count(&arc.0)
    }

    fn tell(&self, place: &'static str) {
        // The counts are in front of the value.
        let address = std::sync::Arc::as_ptr(&self.0).addr() - 2 * size_of::<usize>();
        tell(|watcher| watcher.access(address, Access::Exchange, place));
    }
}

#[allow(missing_docs, reason = "as in `std`")]
#[allow(dead_code, reason = "what some crates need")]
impl<T: ?Sized> Arc<T> {
    /// # Safety
    ///
    /// As for `std`'s.
    pub unsafe fn from_raw(raw: *const T) -> Self {
        // SAFETY: the caller promises what `std` asks for.
        Self(unsafe { std::sync::Arc::from_raw(raw) })
    }

    /// # Safety
    ///
    /// As for `std`'s.
    pub unsafe fn increment_strong_count(raw: *const T) {
        // SAFETY: the caller promises what `std` asks for.
        unsafe { std::sync::Arc::increment_strong_count(raw) };
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.tell(Location::caller().file());
        Self(std::sync::Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        self.tell("Arc");
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}
