//! Waiting: [`sleep()`], [`timeout()`] and [`interval()`].
//!
//! **Precision.** No timer is ever early. One is late by the sum of
//!
//! * less than 1/64 ms, the tick of the wheels;
//! * up to [`Builder::timer_resolution`](crate::Builder::timer_resolution), 0.2 ms
//!   unless it is set, if its worker sleeps and has woken up for other timers just
//!   before;
//! * what the system takes to wake a thread: some 0.05 to 0.1 ms on Linux, and a
//!   timer tick of the system, 1 to 16 ms, on Windows;
//! * the time until its task gets its turn; and if its worker is busy, up to 0.1 ms
//!   and one slice until that looks at its wheel.
//!
//! Timers of a worker fire in the order of their deadlines by the tick, and those of
//! a tick in the order in which they were first polled.
//!
//! **Cost.** A timer costs nothing until it is first polled while its time is still
//! to come; from then on it lies in the wheel of the worker that polled it.
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
