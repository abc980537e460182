//! The driver of this thread: how a socket or a timer finds its runtime.

use super::Driver;
use std::cell::RefCell;
use std::sync::Arc;

/// A thread's place in a runtime, as far as I/O is concerned.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) driver: Arc<Driver>,
    /// Which worker this thread is, if it is one.
    pub(crate) worker: Option<usize>,
}

// Counted, so that what keeps its driver for a short time, as a timer does, counts on a line that no
// other thread counts on.
thread_local!(static CURRENT: RefCell<Option<Arc<Context>>> = const { RefCell::new(None) });

/// Calls `f` with this thread's driver; `None` outside a runtime.
pub(crate) fn try_with<R>(f: impl FnOnce(&Arc<Context>) -> R) -> Option<R> {
    CURRENT.with(|current| current.borrow().as_ref().map(f))
}

/// Calls `f` with this thread's driver.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub(crate) fn with<R>(f: impl FnOnce(&Arc<Context>) -> R) -> R {
    match try_with(f) {
        Some(result) => result,
        None => panic!(
            "this thread is in no `colored` runtime: sockets, timers and blocking calls are made \
             inside `#[colored::main]`, `Runtime::run`, `Runtime::block_on`, or while the guard of \
             `Handle::enter` lives"
        ),
    }
}

/// Puts another context, or none, in the place of this thread's, and gives that back; `None` at the end
/// of a thread, which drops its thread-locals in any order.
pub(super) fn replace(context: Option<Arc<Context>>) -> Option<Arc<Context>> {
    CURRENT.try_with(|current| current.replace(context)).ok().flatten()
}
