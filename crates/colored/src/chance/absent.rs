//! Without the feature `sim`: all wakes are tokio's.

/// Runs `f`.
#[inline]
pub(crate) fn releasing<R>(f: impl FnOnce() -> R) -> R {
    f()
}

#[derive(Debug, Default)]
pub(crate) struct Releases;

#[inline]
pub(crate) fn in_order<F>(future: F) -> F {
    future
}
