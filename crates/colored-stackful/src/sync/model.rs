//! The model's side: `loom`, with the same names and signatures as `real.rs`.

pub(crate) use loom::cell::Cell;
pub(crate) use loom::sync::{Arc, Condvar, Mutex};
pub(crate) use loom::thread::JoinHandle;
use std::io;
use std::mem;

macro_rules! thread_slot {
    (static $name:ident: $ty:ty = $init:expr) => {
        ::loom::thread_local! { static $name: $ty = $init }
    };
}
pub(crate) use thread_slot;

/// Words of a stack: an unwinding takes more than loom's own choice.
const WORDS: usize = 32 << 10;

/// Starts a thread.
///
/// # Safety
///
/// What `run` borrows lives until the thread has ended.
pub(crate) unsafe fn spawn(_size: usize, run: impl FnOnce() + Send) -> io::Result<JoinHandle<()>> {
    type Run<'a> = Box<dyn FnOnce() + Send + 'a>;
    let run: Run<'_> = Box::new(run);
    // SAFETY: only the lifetime changes, and the caller promises that what the closure borrows lives for long enough.
    let run = unsafe { mem::transmute::<Run<'_>, Run<'static>>(run) };
    loom::thread::Builder::new().stack_size(WORDS).spawn(run)
}
