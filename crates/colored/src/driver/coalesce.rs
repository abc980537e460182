//! How often a worker wakes up for its timers.
//!
//! Firing a timer costs less than a microsecond, waking a thread for it 5 to 30. So a worker that
//! has slept until timers were due does not wake up for others before a rest is over; the timers that have become due
//! by then fire together, in the order of the deadlines. A timer is late by up to a rest for it, but only while timers
//! are due more often than that: one that is due after a quiet time is waited for exactly. The rest bounds sleeping
//! only: a worker that is awake looks at its timers all the time.

use std::sync::atomic::{AtomicU64, Ordering};

/// The times at which a worker wakes up for its timers, in ticks of the clock.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Coalescing {
    rest: u64,
    /// The worker does not wake up for timers before this tick. Only the worker reads it.
    until: AtomicU64,
}

impl Coalescing {
    /// Makes sleeps end at most once in `rest` ticks.
    pub(super) const fn new(rest: u64) -> Self {
        Self { rest, until: AtomicU64::new(0) }
    }

    /// The end of a sleep whose first timer is due at `tick`.
    pub(super) fn end(&self, tick: u64) -> u64 {
        // Ordering: one thread, for both.
        tick.max(self.until.load(Ordering::Relaxed))
    }

    /// Timers ended a sleep, at `now`.
    pub(super) fn note_wake_up(&self, now: u64) {
        self.until.store(now + self.rest, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Coalescing;

    #[test]
    fn a_sleep_after_a_quiet_time_ends_in_time() {
        let coalescing = Coalescing::new(10);
        assert_eq!(coalescing.end(3), 3);
        coalescing.note_wake_up(3);
        assert_eq!(coalescing.end(13), 13);
        assert_eq!(coalescing.end(500), 500);
    }

    #[test]
    fn sleeps_end_at_most_once_in_a_rest() {
        let coalescing = Coalescing::new(10);
        let (mut now, mut ends) = (0, Vec::new());
        // A timer is due at every tick.
        while now < 100 {
            now = coalescing.end(now + 1);
            coalescing.note_wake_up(now);
            ends.push(now);
        }
        assert_eq!(ends, [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 101]);
    }

    #[test]
    fn without_a_rest_every_tick_is_met() {
        let coalescing = Coalescing::new(0);
        coalescing.note_wake_up(7);
        assert_eq!(coalescing.end(8), 8);
    }
}
