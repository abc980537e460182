//! Why a value cannot be accessed, with texts for logs; and [`Checked`], a future that returns that in place of a panic.

use crate::kernel::color::Color;
use crate::kernel::lane::current;
use crate::kernel::task::Deadlock;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Why a value cannot be accessed right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// The caller does not run under the cell's color.
    WrongColor {
        /// The cell's color.
        cell: Color,
        /// The caller's color, if it has one.
        current: Option<Color>,
    },
    /// The caller is inside the closure of another access to the same cell, or accesses the cell
    /// during an [`exclusive`](super::ColorCell::exclusive) access of the same task.
    InUse,
}

impl AccessError {
    /// The caller's color is not the cell's.
    #[cold]
    pub(crate) fn wrong_color(cell: Color) -> Self {
        Self::WrongColor { cell, current: Color::current() }
    }

    /// A hint at another access for the caller.
    fn advice(self) -> &'static str {
        match self {
            Self::WrongColor { current: Some(_), .. } => {
                "use `call` or `post`, or `hop` there first"
            }
            Self::WrongColor { current: None, .. } => "use `call` or `post`",
            Self::InUse => "an access must not be nested in another one to the same cell",
        }
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongColor { cell, current: Some(current) } => {
                write!(f, "this `ColorCell` belongs to {cell}, but the caller runs under {current}")
            }
            Self::WrongColor { cell, current: None } => {
                write!(f, "this `ColorCell` belongs to {cell}, but the caller runs under no color")
            }
            Self::InUse => f.write_str(
                "this `ColorCell` is in use, further up the stack or in a section of the same task",
            ),
        }?;
        write!(f, "; {}", self.advice())
    }
}

impl std::error::Error for AccessError {}

/// The cell is in use: [`AccessError::InUse`], where no other error is possible.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct InUse;

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AccessError::InUse.fmt(f)
    }
}

impl From<InUse> for AccessError {
    fn from(_: InUse) -> Self {
        Self::InUse
    }
}

/// Why a closure was not called: by [`checked_call`](super::ColorCell::checked_call),
/// [`checked_read`](super::ColorCell::checked_read) or [`checked_when`](fn@super::checked_when).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The wait would never end: a section ([`exclusive`](crate::exclusive())) holds the color, and
    /// waits, directly or through other waits, for the caller.
    Deadlock(Deadlock),
    /// The runtime shut down before the turn of the closure came.
    ShutDown,
    /// The caller is inside another access to the same cell, for example an
    /// [`exclusive`](super::ColorCell::exclusive) one, and so has the value already.
    InUse,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock(deadlock) => deadlock.fmt(f),
            Self::ShutDown => f.write_str("the runtime shut down before the closure ran"),
            Self::InUse => InUse.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

impl CallError {
    /// Panics for a future that cannot return an error. `what` names the future, and `site` the
    /// place where it was made.
    #[cold]
    pub(crate) fn raise(self, what: fmt::Arguments<'_>, site: &Location<'_>) -> ! {
        match self {
            Self::ShutDown => panic!("the runtime shut down before {what} at {site} ran"),
            error => panic!("{what} at {site}: {error}"),
        }
    }
}

impl From<InUse> for CallError {
    fn from(_: InUse) -> Self {
        Self::InUse
    }
}

/// Where a cell was made. Only with debug assertions: without them it would make each cell larger.
#[derive(Clone, Copy)]
#[cfg(debug_assertions)]
pub(crate) struct Made(&'static Location<'static>);

#[derive(Clone, Copy)]
#[cfg(not(debug_assertions))]
pub(crate) struct Made;

#[cfg(debug_assertions)]
impl Made {
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self(Location::caller())
    }

    fn at(self) -> Option<&'static Location<'static>> {
        Some(self.0)
    }
}

#[cfg(not(debug_assertions))]
impl Made {
    #[inline]
    pub(crate) fn here() -> Self {
        Self
    }

    fn at(self) -> Option<&'static Location<'static>> {
        None
    }
}

/// Both sides of an access that is refused.
pub(crate) struct Sides {
    pub(crate) cell: Made,
}

impl fmt::Display for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(site) = self.cell.at() {
            write!(f, "\n  the cell was made at {site}")?;
        }
        match current::task() {
            Some(task) => write!(f, "\n  the caller is {}", task.named()),
            None => Ok(()),
        }
    }
}

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
