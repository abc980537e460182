//! Errors of limits; they return the refused item.

use colored_core::Deadlock;
use std::fmt;

/// The limit or the stage is closed; the error returns the item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

/// The item was not admitted now; the error returns it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room, or other senders wait for it.
    Full(T),
    /// The limit or the stage is closed.
    Closed(T),
}

/// The error of [`Limit::try_spawn`](crate::Limit::try_spawn), which returns the future.
pub type TrySpawnError<F> = TrySendError<F>;

/// Why waiting for room failed: the error of [`Limit::checked_reserve`](crate::Limit::checked_reserve).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoomError {
    /// The limit or the stage is closed.
    Closed,
    /// The wait would never end: all items inside can go on only after a section
    /// ([`exclusive`](colored_core::exclusive())) that waits, directly or through other waits, for the
    /// caller.
    Deadlock(Deadlock),
}

const CLOSED: &str = "nothing is taken any more: it has been closed";

impl<T> Closed<T> {
    /// Returns the item.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// Returns the item.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(item) | Self::Closed(item) => item,
        }
    }

    /// Whether a later attempt may succeed.
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

// A future or a closure has no `Debug`, but `unwrap` requires one of the error.
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
