//! [`OnError`]: whether a future of a cell panics, or gives an error, if its closure was not called.

use super::access::CallError;

/// What a [`Call`](super::Call), a [`Read`](super::Read) or a [`When`](super::When) does if its
/// closure was not called: [`OrPanic`] or [`OrError`].
pub trait OnError {
    /// The output of a future whose closure returns `R`.
    type Output<R>;

    /// Makes the output. `raise` panics with a text that names the future.
    fn output<R>(
        result: Result<R, CallError>,
        raise: impl FnOnce(CallError) -> R,
    ) -> Self::Output<R>;
}

/// The future panics: `call`, `read` and `when`.
#[derive(Clone, Copy, Debug)]
pub enum OrPanic {}

/// The future gives a [`CallError`]: `checked_call`, `checked_read` and `checked_when`.
#[derive(Clone, Copy, Debug)]
pub enum OrError {}

impl OnError for OrPanic {
    type Output<R> = R;

    #[inline]
    fn output<R>(result: Result<R, CallError>, raise: impl FnOnce(CallError) -> R) -> R {
        result.unwrap_or_else(raise)
    }
}

impl OnError for OrError {
    type Output<R> = Result<R, CallError>;

    #[inline]
    fn output<R>(
        result: Result<R, CallError>,
        _: impl FnOnce(CallError) -> R,
    ) -> Result<R, CallError> {
        result
    }
}
