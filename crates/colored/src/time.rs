//! Waiting: [`sleep()`], [`timeout()`] and [`interval()`]; and the clock, which a test can [`pause`].
//!
//! **Precision.** No timer is ever early. One is late by the sum of
//!
//! * less than 1/64 ms, the tick of the wheels;
//! * up to [`Tuning::timer_resolution`](crate::runtime::Tuning::timer_resolution), 1 ms
//!   unless it is set, if its worker sleeps and has woken up for other timers just
//!   before;
//! * the time in which the system wakes a thread: some 0.05 to 0.1 ms on Linux, and a
//!   timer tick of the system, 1 to 16 ms, on Windows;
//! * the time until its task gets its turn; and if its worker is busy, up to 0.1 ms and
//!   one slice until the worker looks at its wheel.
//!
//! The timers of a worker fire in the order of the ticks of their deadlines. Timers of
//! one tick fire in the order in which they were first polled, as far as their tasks
//! have one color: between colors there is no order, here as elsewhere.
//!
//! **Cost.** A timer costs nothing until it is first polled before its deadline; from
//! then on it is in the wheel of the worker that polled it.
//!
//! Waiting needs the runtime: polling one of these futures outside of it panics.
//! Making them does not, so `runtime.block_on(sleep(duration))` is fine.
//!
//! # Paused time
//!
//! A test need not wait for real time to pass: with `#[colored::test(paused)]`, [`Builder::start_paused`] or [`pause`] the
//! clock of a runtime stands still, and moves at once to the next timer whenever the runtime is *at rest*. So a sleep of
//! an hour takes no time, and between two deadlines every task has run as far as it can. This works with any number of
//! workers, and is exact: time never moves while one of these is there:
//!
//! * a task that can run, under any color, on a worker or inside `block_on`;
//! * an event that has arrived at a socket of the runtime, such as bytes that another task of the runtime has sent. Over
//!   Unix sockets and pipes they arrive in the call that sends them. Over TCP and UDP a thread of the system may carry
//!   them later, on a busy machine, and time may move meanwhile;
//! * a blocking call that is queued or runs: [`spawn_blocking`](crate::spawn_blocking), a
//!   [`BlockingClass`](crate::task::BlockingClass), a file operation that is not done on the worker, a name look-up. It
//!   counts until it returns, also while it waits by `block_on` for a timer: then nothing but [`advance`] moves time.
//!
//! Time moves although these are there, because the runtime cannot know what comes of them: a socket or pipe that waits
//! for another runtime or process, a child process, a signal, a read of a terminal, a thread that the program has started
//! itself, the tokio runtime of the feature `tokio-context`, whose own clock goes on. A time-out around one of these fires
//! at once.
//!
//! Time moves by itself only while a main future runs ([`Runtime::run`], [`Runtime::block_on`], the attributes), and not
//! between the end of a test and the end of its runtime. [`advance`] moves it by hand. Each runtime has a clock of its own.
//! Deadlines on whole multiples of 1/64 ms are met exactly; others are up to that late, as always. A clock ends after 584
//! years, where every later deadline has come.
//!
//! What measures and what guards stays on real time: time limits of a shutdown, the watch for
//! [long polls](crate::Builder::long_poll) and [deadlocks](crate::Builder::deadlock_after), the length of a turn,
//! `admission`, [`Limit::waited`](crate::Limit::waited), metrics; and [`system_time`], the time of day. In a simulation all of
//! these follow its clock.
//!
//! While the clock is paused, the reactor thread wakes up 200 times a second, also in an idle program.
//!
//! [`Builder::start_paused`]: crate::Builder::start_paused
//! [`Runtime::run`]: crate::Runtime::run
//! [`Runtime::block_on`]: crate::Runtime::block_on
//!
//! # The end
//!
//! When the runtime shuts down, it wakes the remaining timers. Polling one of them
//! before its deadline then panics, because nothing would ever wake it again. Dropping
//! a timer is always fine.

pub mod error;
mod instant;
mod interval;
mod missed;
mod paused;
mod sleep;
#[cfg(test)]
mod tests;
mod timeout;
mod timer;

pub use std::time::Duration;

pub use self::{
    instant::Instant,
    interval::{Interval, interval, interval_at},
    missed::MissedTickBehavior,
    paused::{advance, pause, resume},
    sleep::{Sleep, sleep, sleep_until},
    timeout::{Timeout, timeout, timeout_at},
};
use crate::services::current;
use crate::wall::{self, SystemTime};

/// The time of day.
///
/// In a simulation (feature `sim`) it is that of the host: a run begins at 2026-01-01 00:00 UTC, the time moves with the clock
/// of the run, and `sim::Host::step_clock` steps it. Anywhere else it is the system's, also where the clock of the runtime is
/// paused.
///
/// It may go back, unlike [`Instant`]. Takes some 50 ns.
#[must_use]
pub fn system_time() -> SystemTime {
    current::machine().map_or_else(wall::system_time, |machine| machine.system_time())
}

/// The present time of the runtime's clock, or of the system's clock outside of a
/// runtime.
pub(crate) fn present() -> std::time::Instant {
    current::try_with(|context| context.driver.clock.now()).unwrap_or_else(wall::now)
}

/// Whether that time has come, by the same clock.
pub(crate) fn has_come(at: std::time::Instant) -> bool {
    current::try_with(|context| context.driver.clock.has_reached(at))
        .unwrap_or_else(|| wall::now() >= at)
}

/// `start + wait`. If the platform's `Instant` cannot represent that, the result is 30
/// years after `start`, which makes no practical difference.
pub(crate) fn later(start: std::time::Instant, wait: Duration) -> std::time::Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    start.checked_add(wait).or_else(|| start.checked_add(FAR)).unwrap_or(start)
}
