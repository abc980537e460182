//! What a thread says when the stack of a task overflows: which task, before the process aborts.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use self::unix::watch;

/// Windows has no handler of ours: it says "stack overflow" by itself.
#[cfg(not(unix))]
pub(crate) fn watch() {}
