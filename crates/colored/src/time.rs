//! Waiting: [`sleep()`], [`timeout()`] and [`interval()`].
//!
//! **Precision.** No timer is ever early. One is late by the sum of
//!
//! * less than 1/64 ms, the tick of the wheels;
//! * up to [`Builder::timer_resolution`](crate::Builder::timer_resolution), 0.2 ms
//!   unless it is set, if its worker sleeps and has woken up for other timers just
//!   before;
//! * the time in which the system wakes a thread: some 0.05 to 0.1 ms on Linux, and a
//!   timer tick of the system, 1 to 16 ms, on Windows;
//! * the time until its task gets its turn; and if its worker is busy, up to 0.1 ms and
//!   one slice until the worker looks at its wheel.
//!
//! The timers of a worker fire in the order of the ticks of their deadlines; timers of
//! one tick fire in the order in which they were first polled.
//!
//! **Cost.** A timer costs nothing until it is first polled before its deadline; from
//! then on it is in the wheel of the worker that polled it.
//!
//! Waiting needs the runtime: polling one of these futures outside of it panics.
//! Making them does not, so `runtime.block_on(sleep(duration))` is fine.
//!
//! When the runtime shuts down, it wakes the remaining timers. Polling one of them
//! before its deadline then panics, because nothing would ever wake it again. Dropping
//! a timer is always fine.

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

/// The present time of the runtime's clock, or of the system's clock outside of a
/// runtime.
pub(crate) fn now() -> Instant {
    current::try_with(|context| context.driver.clock.now()).unwrap_or_else(Instant::now)
}

/// `start + wait`. If the platform's `Instant` cannot represent that, the result is 30
/// years after `start`, which makes no practical difference.
pub(crate) fn later(start: Instant, wait: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    start.checked_add(wait).or_else(|| start.checked_add(FAR)).unwrap_or(start)
}
