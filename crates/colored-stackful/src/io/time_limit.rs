//! The time-out of one direction of a stream.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What an operation returns when its time is over: what the standard library's sockets return on this system.
const KIND: io::ErrorKind =
    if cfg!(windows) { io::ErrorKind::TimedOut } else { io::ErrorKind::WouldBlock };

/// The longest time of an operation in nanoseconds; 0 for none.
#[derive(Debug, Default)]
pub(super) struct TimeLimit(AtomicU64);

impl TimeLimit {
    /// # Errors
    ///
    /// `InvalidInput` for no time at all, as of the standard library's sockets.
    pub(super) fn set(&self, limit: Option<Duration>) -> io::Result<()> {
        if limit == Some(Duration::ZERO) {
            let text = "a time-out of 0 s; allowed are 1 ns and more, and `None` for no time-out";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let nanos = limit.map_or(0, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        // Ordering: a setting by itself. Who must see it has heard of it in another way.
        self.0.store(nanos, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn get(&self) -> Option<Duration> {
        // Ordering: as above.
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }
}

/// The error of an operation that took longer than `limit`.
#[cold]
pub(super) fn over(limit: Duration) -> io::Error {
    io::Error::new(KIND, format!("the time-out of {limit:?} is over"))
}
