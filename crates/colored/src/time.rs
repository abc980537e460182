//! Waiting: [`sleep()`], [`timeout()`] and [`interval()`].
//!
//! Timers have a resolution of one millisecond. None is ever early; one is late by
//! less than a millisecond plus the time until its task gets its turn. A timer
//! costs nothing until it is first polled while its time is still to come; from
//! then on it lies in the wheel of the worker that polled it.
//!
//! Waiting needs the runtime: polling one of these futures outside of it panics.
//! Making them does not, so `runtime.block_on(sleep(duration))` is fine.
//!
//! When the runtime has shut down, timers that are left are woken, and polling one
//! whose time is still to come panics, because nothing would ever wake it again.
//! Dropping one is always fine.

mod interval;
mod missed;
mod sleep;
#[cfg(test)]
mod tests;
mod timeout;
mod timer;

pub use std::time::{Duration, Instant};

pub use self::{
    interval::{Interval, interval, interval_at},
    missed::MissedTickBehavior,
    sleep::{Sleep, sleep, sleep_until},
    timeout::{Elapsed, Timeout, timeout, timeout_at},
};
use crate::driver::current;

/// The present by the clock of the runtime, or by the system's outside of one.
pub(crate) fn now() -> Instant {
    current::try_with(|context| context.driver.clock.now()).unwrap_or_else(Instant::now)
}

/// `start` and `wait` later. When that is more than the platform's `Instant` can
/// say, it is 30 years after `start`: nobody will see the difference.
pub(crate) fn later(start: Instant, wait: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    start.checked_add(wait).or_else(|| start.checked_add(FAR)).unwrap_or(start)
}
