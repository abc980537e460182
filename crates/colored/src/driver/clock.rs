//! Where time comes from.
//!
//! A runtime asks its [`Clock`] and nothing else. The clock is a value that the driver owns, so
//! that tests can replace it by a stopped clock.

#[cfg(test)]
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};
use std::time::{Duration, Instant};

/// The nanoseconds of a tick: 1/64 ms, a fraction of the time that the system takes to wake a
/// thread.
pub(crate) const TICK: u64 = 15_625;

/// A monotonic clock, and the ticks that timers are registered under.
///
/// One tick is a [`TICK`]; tick 0 is the moment the clock was made. A deadline is
/// rounded up to a tick ([`deadline_tick`](Clock::deadline_tick)) and the present
/// is rounded down ([`elapsed_tick`](Clock::elapsed_tick)), so a timer that fires
/// when the second reaches the first is never early and less than a tick late.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
    source: Source,
}

#[derive(Debug)]
enum Source {
    System,
    #[cfg(test)]
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// A clock that follows the system's monotonic clock from now on.
    pub(crate) fn new() -> Clock {
        Clock { origin: Instant::now(), source: Source::System }
    }

    /// The present.
    pub(crate) fn now(&self) -> Instant {
        match &self.source {
            Source::System => Instant::now(),
            #[cfg(test)]
            Source::Manual(nanos) => self.origin + Duration::from_nanos(nanos.load(SeqCst)),
        }
    }

    /// The last tick that is over at the present: a wheel is advanced to it.
    pub(crate) fn now_tick(&self) -> u64 {
        self.elapsed_tick(self.now())
    }

    /// The last tick that is over at `at`. 0 for any time before the clock was made.
    pub(crate) fn elapsed_tick(&self, at: Instant) -> u64 {
        self.nanos(at) / TICK
    }

    /// The first tick that is not before `at`: where a deadline is registered.
    pub(crate) fn deadline_tick(&self, at: Instant) -> u64 {
        self.nanos(at).div_ceil(TICK)
    }

    /// The time of `tick`: a worker may sleep until then if it is its wheel's next deadline. `None`
    /// if the platform's `Instant` cannot say.
    pub(crate) fn at(&self, tick: u64) -> Option<Instant> {
        self.origin.checked_add(Duration::from_nanos(tick.saturating_mul(TICK)))
    }

    /// Nanoseconds from tick 0 to `at`; 584 years at most.
    fn nanos(&self, at: Instant) -> u64 {
        let after = at.saturating_duration_since(self.origin);
        let seconds = after.as_secs().saturating_mul(1_000_000_000);
        seconds.saturating_add(u64::from(after.subsec_nanos()))
    }
}

/// Advances a stopped clock.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) struct Hand(Arc<AtomicU64>);

#[cfg(test)]
impl Hand {
    /// Moves the clock on.
    pub(crate) fn forward(&self, by: Duration) {
        let nanos = u64::try_from(by.as_nanos()).expect("a test moves time by less than centuries");
        self.0.fetch_add(nanos, SeqCst);
    }
}

#[cfg(test)]
impl Clock {
    /// A clock that moves only by its hand.
    pub(crate) fn manual() -> (Clock, Hand) {
        let nanos = Arc::new(AtomicU64::new(0));
        let clock = Clock { origin: Instant::now(), source: Source::Manual(nanos.clone()) };
        (clock, Hand(nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_round_up_and_the_present_rounds_down() {
        let clock = Clock::new();
        let at = |nanos| clock.origin + Duration::from_nanos(nanos);
        for (nanos, down, up) in
            [(0, 0, 0), (1, 0, 1), (TICK - 1, 0, 1), (TICK, 1, 1), (TICK + 1, 1, 2)]
        {
            assert_eq!(clock.elapsed_tick(at(nanos)), down, "{nanos} ns");
            assert_eq!(clock.deadline_tick(at(nanos)), up, "{nanos} ns");
        }
    }

    #[test]
    fn a_time_before_the_clock_is_tick_zero() {
        let before = Instant::now();
        std::thread::sleep(Duration::from_millis(2));
        let clock = Clock::new();
        assert_eq!(clock.deadline_tick(before), 0);
        assert_eq!(clock.elapsed_tick(before), 0);
    }

    #[test]
    fn a_tick_has_come_at_its_time_and_not_before() {
        let (clock, hand) = Clock::manual();
        hand.forward(Duration::from_nanos(2 * TICK + 5));
        assert_eq!(clock.now_tick(), 2);
        let at = clock.at(4).expect("an instant can say that");
        assert_eq!(at, clock.now() + Duration::from_nanos(2 * TICK - 5));
        assert_eq!(clock.elapsed_tick(at), 4);
        assert_eq!(clock.elapsed_tick(at - Duration::from_nanos(1)), 3);
    }

    #[test]
    fn the_longest_times_do_not_overflow() {
        let clock = Clock::new();
        let far = clock.origin.checked_add(Duration::from_secs(1 << 40)).expect("35,000 years");
        assert_eq!(clock.elapsed_tick(far), u64::MAX / TICK);
        assert_eq!(clock.deadline_tick(far), u64::MAX.div_ceil(TICK));
        assert!(clock.at(u64::MAX).is_none_or(|at| at > clock.now()));
    }
}
