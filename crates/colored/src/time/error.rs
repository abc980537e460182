//! The error of a timeout.

use std::time::Duration;
use std::{error, fmt, io};

/// The time of a [`timeout`](super::timeout()) was over before its future was ready.
///
/// Turns into an [`io::Error`] of kind [`TimedOut`](io::ErrorKind::TimedOut).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed {
    limit: Option<Duration>,
}

impl Elapsed {
    pub(super) fn of(limit: Option<Duration>) -> Self {
        Self { limit }
    }

    /// The time limit of [`timeout`](super::timeout()); `None` for [`timeout_at`](super::timeout_at).
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Some(limit) => write!(f, "not done within {limit:?}"),
            None => f.write_str("not done by the deadline"),
        }
    }
}

impl error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, elapsed)
    }
}
