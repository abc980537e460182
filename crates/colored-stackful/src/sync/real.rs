//! The product's side: `std`.

pub(crate) use std::cell::Cell;
#[cfg(any(test, miri))]
pub(crate) use std::sync::{Arc, Condvar, Mutex};
#[cfg(any(test, miri))]
pub(crate) use std::thread::JoinHandle;

macro_rules! thread_slot {
    (static $name:ident: $ty:ty = $init:expr) => {
        ::std::thread_local! { static $name: $ty = const { $init } }
    };
}
pub(crate) use thread_slot;

/// Starts a thread with a stack of `size` bytes.
///
/// # Safety
///
/// What `run` borrows lives until the thread has ended.
#[cfg(any(test, miri))]
pub(crate) unsafe fn spawn(
    size: usize,
    run: impl FnOnce() + Send,
) -> std::io::Result<JoinHandle<()>> {
    let builder = std::thread::Builder::new().stack_size(size);
    // SAFETY: the caller promises the same.
    unsafe { builder.spawn_unchecked(run) }
}
