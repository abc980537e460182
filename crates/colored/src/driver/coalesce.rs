//! How often a worker wakes up for its timers.
//!
//! Firing a timer costs less than a microsecond, waking a thread for it 5 to 30. So a worker that
//! has slept until timers were due does not wake up for others before a rest is over; the timers that have become due
//! by then fire together, in the order of the deadlines. A timer is late by up to a rest for it, but only while timers
//! are due more often than that: one that is due after a quiet time is waited for exactly. The rest bounds sleeping
//! only: a worker that is awake looks at its timers all the time.

use std::sync::atomic::{AtomicU64, Ordering};

/// When a worker wakes up for its timers. In ticks of the clock.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Coalescing {
    rest: u64,
    /// Not before. Only the worker looks.
    until: AtomicU64,
}

impl Coalescing {
    /// Naps that end at most once in so many ticks.
    pub(super) const fn new(rest: u64) -> Self {
        Self { rest, until: AtomicU64::new(0) }
    }

    /// When a nap ends that is to end at `tick`.
    pub(super) fn end(&self, tick: u64) -> u64 {
        // Ordering: one thread, for both.
        tick.max(self.until.load(Ordering::Relaxed))
    }

    /// A nap was ended by timers, at `now`.
    pub(super) fn woken(&self, now: u64) {
        self.until.store(now + self.rest, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Coalescing;

    #[test]
    fn a_nap_after_a_quiet_time_ends_in_time() {
        let nap = Coalescing::new(10);
        assert_eq!(nap.end(3), 3);
        nap.woken(3);
        assert_eq!(nap.end(13), 13);
        assert_eq!(nap.end(500), 500);
    }

    #[test]
    fn naps_end_at_most_once_in_a_rest() {
        let nap = Coalescing::new(10);
        let (mut now, mut ends) = (0, Vec::new());
        // A timer is due at every tick.
        while now < 100 {
            now = nap.end(now + 1);
            nap.woken(now);
            ends.push(now);
        }
        assert_eq!(ends, [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 101]);
    }

    #[test]
    fn without_a_rest_every_tick_is_met() {
        let nap = Coalescing::new(0);
        nap.woken(7);
        assert_eq!(nap.end(8), 8);
    }
}
