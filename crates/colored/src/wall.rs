//! The system's clock. No other place of this crate reads it: what follows the clock of a runtime, which may be paused,
//! asks [`driver::clock`](crate::driver::clock), and what must not follow it asks here: time limits of shutdowns, the watch
//! for long polls and deadlocks, threads that retire.

pub(crate) use std::time::SystemTime;
use std::time::{Duration, Instant};

/// The present.
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The time since `begin`.
#[inline]
pub(crate) fn since(begin: Instant) -> Duration {
    begin.elapsed()
}

/// The time of day, where no simulation has its own.
pub(crate) fn system_time() -> SystemTime {
    SystemTime::now()
}
