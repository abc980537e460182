//! The model's side: `loom`, with the same names and signatures as `real.rs`.

pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::Arc;
pub(crate) use loom::sync::MutexGuard;
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence,
};

pub(crate) use loom::cell::UnsafeCell;

/// See `real.rs`.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
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
