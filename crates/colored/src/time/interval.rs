//! Ticking at a fixed period.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use super::{
    instant::Instant,
    later,
    missed::MissedTickBehavior,
    present,
    sleep::{Sleep, sleep_until},
};

/// Ticks at once and then every `period`.
///
/// The ticks are a grid that starts at this call: the work of the task between them
/// does not shift them. [`MissedTickBehavior`] decides what happens to ticks that the
/// task misses; the default is `Burst`.
///
/// # Panics
///
/// If `period` is zero.
///
/// # Examples
///
/// ```no_run
/// # async fn example() {
/// use colored::time::{Duration, interval};
///
/// let mut every_second = interval(Duration::from_secs(1));
/// loop {
///     every_second.tick().await;
///     println!("tick");
/// }
/// # }
/// ```
#[must_use]
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(present(), period)
}

/// Ticks at `start`, which may have passed, and then every `period`.
///
/// # Panics
///
/// If `period` is zero.
#[must_use]
#[track_caller]
pub fn interval_at(start: impl Into<Instant>, period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval of {period:?}: the period must be longer than zero");
    Interval { sleep: sleep_until(start), period, missed: MissedTickBehavior::default() }
}

/// A clock that ticks; made by [`interval`] and [`interval_at`]. Also a [`Stream`](futures_core::Stream) of its ticks, without
/// an end.
#[derive(Debug)]
pub struct Interval {
    /// Waits for the next tick.
    sleep: Sleep,
    period: Duration,
    missed: MissedTickBehavior,
}

impl Interval {
    /// Waits for the next tick, and returns the time at which it was due.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the next call returns a tick that this call has not returned.
    ///
    /// # Panics
    ///
    /// Outside of a runtime and after its shutdown, as polling a [`Sleep`] does.
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// As [`tick`](Self::tick), for a future written by hand.
    ///
    /// When it is pending, the task of `cx` is woken at the next tick. Only the last
    /// task that polled is woken.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(Pin::new(&mut self.sleep).poll(cx));
        let due = self.sleep.deadline();
        let next = self.missed.next(due.into_std(), present(), self.period);
        self.reset_at(next);
        Poll::Ready(due)
    }

    /// Makes the next tick come one period from now.
    pub fn reset(&mut self) {
        self.reset_after(self.period);
    }

    /// Makes the next tick come at once.
    pub fn reset_immediately(&mut self) {
        self.reset_at(present());
    }

    /// Makes the next tick come after `duration`, and the others after it.
    pub fn reset_after(&mut self, duration: Duration) {
        self.reset_at(later(present(), duration));
    }

    /// Makes the next tick come at `deadline`, and the others after it.
    pub fn reset_at(&mut self, deadline: impl Into<Instant>) {
        Pin::new(&mut self.sleep).reset(deadline);
    }

    /// The time from tick to tick.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// The behavior for missed ticks.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed
    }

    /// Sets the behavior for missed ticks.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed = behavior;
    }
}

impl futures_core::Stream for Interval {
    type Item = Instant;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Instant>> {
        self.get_mut().poll_tick(cx).map(Some)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
