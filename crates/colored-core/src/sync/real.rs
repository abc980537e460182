//! The product's side: `std`.

pub(crate) use std::hint::spin_loop;
use std::sync::PoisonError;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, fence};
pub use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
pub use std::sync::{Arc, MutexGuard};
pub(crate) use std::thread::ThreadId;

/// `core::cell::UnsafeCell` with loom's interface: access by closure, so the model can see when an
/// access begins and ends.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    #[inline]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// A lock that ignores poisoning: the only user code that runs under one is the clone or drop of a
/// foreign waker, and a panic there leaves nothing half done.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock that is free.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    #[inline]
    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable for [`Mutex`].
#[derive(Debug, Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// A thread-local whose value needs no destructor, so that reading it is one load.
macro_rules! thread_slot {
    ($vis:vis static $name:ident: $ty:ty = $init:expr) => {
        ::std::thread_local! { $vis static $name: $ty = const { $init } }
    };
}
pub(crate) use thread_slot;

/// Erases the type of the value of an `Arc`.
macro_rules! arc_dyn {
    ($arc:expr => $dyn:ty) => {{
        let sized = $arc;
        let arc: $crate::sync::Arc<$dyn> = sized;
        arc
    }};
}
pub(crate) use arc_dyn;

pub(crate) fn this_thread() -> ThreadId {
    std::thread::current().id()
}
