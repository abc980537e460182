//! [`AsyncFdTryNewError`].

use crate::error_context::NamedError;
use std::error::Error;
use std::fmt;
use std::io;

/// The error of [`AsyncFd::try_new`](super::AsyncFd::try_new) and
/// [`AsyncFd::try_with_interest`](super::AsyncFd::try_with_interest), which returns the value. Its
/// [`source`](Error::source) is the error of the system.
pub struct AsyncFdTryNewError<T> {
    pub(super) value: T,
    pub(super) cause: NamedError,
}

impl<T> AsyncFdTryNewError<T> {
    /// The value, and the error of the system.
    pub fn into_parts(self) -> (T, io::Error) {
        (self.value, self.cause.into_inner())
    }
}

impl<T> fmt::Debug for AsyncFdTryNewError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncFdTryNewError").field(&self.cause).finish()
    }
}

impl<T> fmt::Display for AsyncFdTryNewError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<T> Error for AsyncFdTryNewError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

impl<T> From<AsyncFdTryNewError<T>> for io::Error {
    /// Drops the value.
    fn from(error: AsyncFdTryNewError<T>) -> io::Error {
        error.cause.into()
    }
}
