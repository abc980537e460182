//! The locks of a queue.

use crossbeam_utils::Backoff;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A lock without a value: the lists have their values in atomics.
pub trait Lock: Default + Sync {
    /// Holds the lock while `f` runs, which must not panic.
    fn with<T>(&self, f: impl FnOnce() -> T) -> T;
}

/// The lock of the standard library, which sleeps in the system.
#[derive(Debug, Default)]
pub struct Os(Mutex<()>);

impl Lock for Os {
    fn with<T>(&self, f: impl FnOnce() -> T) -> T {
        let _held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f()
    }
}

/// A lock that spins: it tests the word until it is free, then tests and sets it. After some rounds it also yields its
/// core, because the holder may wait for that core.
#[derive(Debug, Default)]
pub struct Spin(AtomicBool);

impl Lock for Spin {
    fn with<T>(&self, f: impl FnOnce() -> T) -> T {
        let backoff = Backoff::new();
        // Ordering: pairs with the store of the holder before.
        while self.0.swap(true, Ordering::Acquire) {
            // Ordering: a hint.
            while self.0.load(Ordering::Relaxed) {
                backoff.snooze();
            }
        }
        let result = f();
        // Ordering: pairs with the swap of the next holder.
        self.0.store(false, Ordering::Release);
        result
    }
}
