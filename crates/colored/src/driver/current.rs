//! Stub: the driver of this thread.

use std::cell::RefCell;
use std::sync::Arc;

use super::Driver;

#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) driver: Arc<Driver>,
    pub(crate) worker: Option<usize>,
}

thread_local!(static CURRENT: RefCell<Option<Context>> = const { RefCell::new(None) });

pub(crate) fn try_with<R>(f: impl FnOnce(&Context) -> R) -> Option<R> {
    let context = CURRENT.with(|c| c.borrow().clone());
    context.as_ref().map(f)
}

pub(crate) fn with<R>(f: impl FnOnce(&Context) -> R) -> R {
    try_with(f).expect("this needs a colored runtime: call it from a task or inside Runtime::run")
}

/// Stub only: makes `context` that of this thread for good.
#[cfg(test)]
pub(crate) fn set(context: Option<Context>) -> Option<Context> {
    CURRENT.with(|c| c.replace(context))
}
