//! What does not come in is given back.

use crate::task::Deadlock;
use std::fmt;

/// Nothing is taken any more; what was to be sent is given back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

/// Nothing is taken right now; what was to be sent is given back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room, or others wait for it.
    Full(T),
    /// Nothing is taken any more.
    Closed(T),
}

/// Why [`Limit::try_spawn`](super::Limit::try_spawn) did not spawn; it has the future.
pub type TrySpawnError<F> = TrySendError<F>;

/// Why there is no room to wait for: of [`Limit::try_wait`](super::Limit::try_wait).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoomError {
    /// Nothing is taken any more.
    Closed,
    /// To wait would never end: all inside can go on only after a section
    /// ([`exclusive`](crate::exclusive())) that waits, in the end, for the caller.
    Deadlock(Deadlock),
}

const CLOSED: &str = "nothing is taken any more: it has been closed";

impl<T> Closed<T> {
    /// What was to be sent.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// What was to be sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(item) | Self::Closed(item) => item,
        }
    }

    /// Whether it may succeed later.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED)
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "there is no room: as much as the capacity is inside, or others wait",
            Self::Closed(_) => CLOSED,
        })
    }
}

impl fmt::Display for RoomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str(CLOSED),
            Self::Deadlock(deadlock) => deadlock.fmt(f),
        }
    }
}

// A future or a closure has no `Debug`, and `unwrap` wants one of the error.
impl<T> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed(..)")
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> std::error::Error for Closed<T> {}
impl<T> std::error::Error for TrySendError<T> {}
impl std::error::Error for RoomError {}
