//! The model's side: `loom`, with the same names and signatures as `real.rs`.

use loom::alloc::Track;
pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::hint::spin_loop;
pub use loom::sync::atomic::Ordering;
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU16, fence};
pub use loom::sync::{Arc, MutexGuard};
pub(crate) use loom::thread::ThreadId;
use std::ops::Deref;
use std::thread;

/// Defines an atomic that detects when it is freed while another thread may still use it, and when it is never
/// freed.
///
/// loom checks the order of accesses, but not the lifetime of the atomic. Here the drop counts as an exclusive
/// access: a use that does not happen before the drop fails the model, whichever came first. An atomic that still
/// exists when the model ends is a leak. An atomic of one word then fails the model, because reference counts are
/// such atomics.
macro_rules! freed_exclusively {
    ($vis:vis $name:ident $(<$t:ident>)?, $inner:ty, $value:ty, $track:expr => $tracked:ty) => {
        /// An atomic that the model checker sees.
        #[derive(Debug)]
        $vis struct $name$(<$t>)?(
            $inner,
            #[allow(dead_code, reason = "loom looks for it when the model ends")] $tracked,
        );

        impl$(<$t>)? $name$(<$t>)? {
            /// An atomic with this value.
            #[track_caller]
            $vis fn new(value: $value) -> Self {
                Self(<$inner>::new(value), $track)
            }
        }

        impl$(<$t>)? Deref for $name$(<$t>)? {
            type Target = $inner;

            fn deref(&self) -> &$inner {
                &self.0
            }
        }

        impl$(<$t>)? Drop for $name$(<$t>)? {
            fn drop(&mut self) {
                // A failed model unwinds through half-done operations.
                if !thread::panicking() {
                    self.0.with_mut(|_| ());
                }
            }
        }
    };
}

freed_exclusively!(pub(crate) AtomicPtr<T>, loom::sync::atomic::AtomicPtr<T>, *mut T, () => ());
freed_exclusively!(pub(crate) AtomicU32, loom::sync::atomic::AtomicU32, u32, () => ());
freed_exclusively!(pub AtomicU64, loom::sync::atomic::AtomicU64, u64, () => ());
freed_exclusively!(pub AtomicUsize, loom::sync::atomic::AtomicUsize, usize, Track::new(()) => Track<()>);

impl Default for AtomicU64 {
    fn default() -> Self {
        Self::new(0)
    }
}

/// See `real.rs`.
#[derive(Debug, Default)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock that is free.
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("no model panics under a lock")
    }
}

/// See `real.rs`.
#[derive(Debug, Default)]
pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).expect("no model panics under a lock")
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

macro_rules! thread_slot {
    ($vis:vis static $name:ident: $ty:ty = $init:expr) => {
        ::loom::thread_local! { $vis static $name: $ty = $init }
    };
}
pub(crate) use thread_slot;

/// See `real.rs`. loom's `Arc` cannot coerce, but its raw pointers can.
macro_rules! arc_dyn {
    ($arc:expr => $dyn:ty) => {{
        let sized = $crate::sync::Arc::into_raw($arc);
        let raw: *const $dyn = sized;
        // SAFETY: the pointer is from `into_raw`, of the same allocation.
        unsafe { $crate::sync::Arc::from_raw(raw) }
    }};
}
pub(crate) use arc_dyn;

pub(crate) fn this_thread() -> ThreadId {
    loom::thread::current().id()
}
