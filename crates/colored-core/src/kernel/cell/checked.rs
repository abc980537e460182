//! [`Checked`]: a future of a cell that returns an error in place of a panic.

use super::access::CallError;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A [`Call`](super::Call), a [`Read`](super::Read) or a [`When`](super::When) that returns a
/// [`CallError`] in place of a panic, if its closure was not called: the future of `checked_call`,
/// `checked_read` and `checked_when`.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Checked<F>(F);

impl<F> Checked<F> {
    pub(super) fn new(future: F) -> Self {
        Self(future)
    }
}

/// A future of a cell, before an error becomes a panic.
#[doc(hidden)]
pub trait Fallible: Unpin {
    /// What the closure returns.
    type Value;

    fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::Value, CallError>>;
}

impl<F: Fallible> Future for Checked<F> {
    type Output = Result<F::Value, CallError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_result(cx)
    }
}
