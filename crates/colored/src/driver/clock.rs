//! Where time comes from.
//!
//! A runtime asks its [`Clock`] and nothing else. The clock is a value that the
//! driver owns, so that a clock which stands still can take its place.

#[cfg(test)]
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};
use std::time::{Duration, Instant};

/// A monotonic clock, and the ticks that timers are filed under.
///
/// One tick is one millisecond; tick 0 is the moment the clock was made. A
/// deadline is rounded up to a tick ([`deadline_tick`](Clock::deadline_tick)) and
/// the present is rounded down ([`elapsed_tick`](Clock::elapsed_tick)), so a
/// timer that fires when the second reaches the first is never early and less
/// than one millisecond late.
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

    /// The last tick that is over at the present: what a wheel is advanced to.
    pub(crate) fn now_tick(&self) -> u64 {
        self.elapsed_tick(self.now())
    }

    /// The last tick that is over at `at`. 0 for any time before the clock was made.
    pub(crate) fn elapsed_tick(&self, at: Instant) -> u64 {
        millis(at.saturating_duration_since(self.origin))
    }

    /// The first tick that is not before `at`: where a deadline is filed.
    pub(crate) fn deadline_tick(&self, at: Instant) -> u64 {
        let after = at.saturating_duration_since(self.origin);
        millis(after.saturating_add(Duration::from_nanos(999_999)))
    }

    /// How long it is until `tick`: how long a worker may sleep whose wheel's
    /// next deadline this is. Zero when the tick has come.
    pub(crate) fn until(&self, tick: u64) -> Duration {
        let after = self.now().saturating_duration_since(self.origin);
        Duration::from_millis(tick).saturating_sub(after)
    }
}

fn millis(time: Duration) -> u64 {
    let whole = time.as_secs().saturating_mul(1000);
    whole.saturating_add(u64::from(time.subsec_millis()))
}

/// Moves a clock that stands still otherwise.
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
            [(0, 0, 0), (1, 0, 1), (999_999, 0, 1), (1_000_000, 1, 1), (1_000_001, 1, 2)]
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
    fn a_worker_sleeps_exactly_until_the_tick() {
        let (clock, hand) = Clock::manual();
        hand.forward(Duration::from_micros(2_500));
        assert_eq!(clock.now_tick(), 2);
        assert_eq!(clock.until(4), Duration::from_micros(1_500));
        assert_eq!(clock.until(2), Duration::ZERO);
        assert!(clock.until(u64::MAX) > Duration::from_secs(1 << 40));
    }

    #[test]
    fn the_longest_durations_do_not_overflow() {
        assert_eq!(millis(Duration::MAX), u64::MAX);
    }
}
