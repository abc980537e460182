//! [`MissedTickBehavior`]: the behavior of an interval whose task is late.

use std::time::{Duration, Instant};

use super::later;

/// Lateness up to this value comes from the timer and the scheduler, not from the task.
const SLACK: Duration = Duration::from_millis(5);

/// The behavior of an [`Interval`](super::Interval) when its task takes a tick late, because it was
/// busy with something else.
///
/// With a period of 10 ms and a task that takes the tick of 10 ms only at 35 ms:
///
/// | | next ticks, taken in time |
/// |---|---|
/// | `Burst` | 20 and 30 at once, then 40, 50, 60 |
/// | `Delay` | 45, 55, 65 |
/// | `Skip` | 40, 50, 60 |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MissedTickBehavior {
    /// The interval returns the missed ticks at once, one for each call. No tick is
    /// lost and the times of the ticks never shift.
    #[default]
    Burst,
    /// A tick that was taken more than 5 ms late shifts all later ones: the next
    /// comes a whole period after it was taken.
    Delay,
    /// The interval skips the missed ticks: the next tick comes at the next multiple of
    /// the period, counted from the start.
    Skip,
}

impl MissedTickBehavior {
    /// The time of the next tick, after a tick that was due at `due` and taken at `now`.
    pub(super) fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        let late = now.saturating_duration_since(due);
        match self {
            MissedTickBehavior::Delay if late > SLACK => later(now, period),
            MissedTickBehavior::Skip if late >= period => {
                let into_period = late.as_nanos() % period.as_nanos();
                // No task is late by the 584 years that would be cut off here.
                let into_period = Duration::from_nanos(into_period as u64);
                later(now, period - into_period)
            }
            _ => later(due, period),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MissedTickBehavior::*, *};

    const PERIOD: u64 = 10_000;

    /// The next tick in microseconds, after one that was due at `due`.
    fn next(behavior: MissedTickBehavior, due: u64, now: u64) -> u64 {
        let start = Instant::now();
        let at = |micros| start + Duration::from_micros(micros);
        let next = behavior.next(at(due), at(now), Duration::from_micros(PERIOD));
        u64::try_from((next - start).as_micros()).unwrap()
    }

    #[test]
    fn a_tick_in_time_is_followed_after_a_period() {
        for behavior in [Burst, Delay, Skip] {
            for late in [0, 1, 999, 5_000] {
                assert_eq!(next(behavior, 20_000, 20_000 + late), 30_000, "{behavior:?} {late}");
            }
        }
    }

    #[test]
    fn burst_keeps_every_tick() {
        assert_eq!(next(Burst, 10_000, 35_000), 20_000);
        assert_eq!(next(Burst, 20_000, 35_000), 30_000);
        assert_eq!(next(Burst, 30_000, 35_000), 40_000);
    }

    #[test]
    fn delay_shifts_all_later_ticks() {
        assert_eq!(next(Delay, 10_000, 35_000), 45_000);
        assert_eq!(next(Delay, 10_000, 15_001), 25_001);
    }

    #[test]
    fn skip_stays_on_the_grid() {
        assert_eq!(next(Skip, 10_000, 35_000), 40_000);
        assert_eq!(next(Skip, 10_000, 19_999), 20_000);
        assert_eq!(next(Skip, 10_000, 20_000), 30_000, "the tick of now is missed, not doubled");
        assert_eq!(next(Skip, 10_000, 20_001), 30_000);
    }

    #[test]
    fn the_longest_period_does_not_overflow() {
        let now = Instant::now();
        for behavior in [Burst, Delay, Skip] {
            assert!(behavior.next(now, now + SLACK * 2, Duration::MAX) > now);
        }
        let late = now + Duration::from_secs(1 << 30);
        assert!(Skip.next(now, late, Duration::from_nanos(1)) > late);
    }
}
