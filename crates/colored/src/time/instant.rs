//! [`Instant`]: a point in time, by the clock of a runtime.

use crate::time;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// A point in time, by the clock of the runtime.
///
/// As [`std::time::Instant`], except that [`now`](Self::now) and [`elapsed`](Self::elapsed) follow the clock of the current
/// runtime, which [`pause`](super::pause()) stops. As long as that clock was never paused, it shows what the system's clock
/// shows, and the conversions from and to `std`'s type say the same time. Afterwards the two differ, and the conversions
/// change the type only.
///
/// The clocks of two runtimes differ from the moment when one of them is paused.
///
/// # Examples
///
/// ```
/// use colored::time::{Duration, Instant, sleep};
///
/// # #[colored::main(paused)]
/// # async fn main() {
/// let start = Instant::now();
/// sleep(Duration::from_secs(3600)).await;
/// assert_eq!(start.elapsed(), Duration::from_secs(3600));
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(std::time::Instant);

impl Instant {
    /// The present by the clock of the current runtime, or by the system's clock outside of a runtime. So a
    /// [`sleep`](super::sleep()) that is made outside of a runtime counts from the system's time: make it inside an `async`
    /// block where the clock has been paused.
    #[must_use]
    pub fn now() -> Instant {
        Instant(time::present())
    }

    /// The same as a time of `std`.
    #[must_use]
    pub fn into_std(self) -> std::time::Instant {
        self.0
    }

    /// The same as a time of this type.
    #[must_use]
    pub fn from_std(at: std::time::Instant) -> Instant {
        Instant(at)
    }

    /// The time since then; zero if that time is yet to come.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(*self)
    }

    /// The time from `earlier` to this; zero if `earlier` is later.
    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// As [`duration_since`](Self::duration_since).
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// The time from `earlier` to this; `None` if `earlier` is later.
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// This and so much; `None` if the platform cannot represent it.
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// The time that is `duration` before this one; `None` if the platform cannot represent it.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl From<std::time::Instant> for Instant {
    fn from(at: std::time::Instant) -> Instant {
        Instant(at)
    }
}

impl From<Instant> for std::time::Instant {
    fn from(at: Instant) -> std::time::Instant {
        at.0
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    ///
    /// If the platform cannot represent the result, as with `std`'s type; [`checked_add`](Instant::checked_add) does not.
    fn add(self, duration: Duration) -> Instant {
        Instant(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    ///
    /// If the platform cannot represent the result, as with `std`'s type; [`checked_sub`](Instant::checked_sub) does not.
    fn sub(self, duration: Duration) -> Instant {
        Instant(self.0 - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// Zero if `earlier` is later.
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::Instant;
    use std::collections::HashSet;
    use std::time::Duration;

    #[test]
    fn it_computes_as_the_type_of_std_does() {
        let std = std::time::Instant::now();
        let at = Instant::from(std);
        let second = Duration::from_secs(1);
        let later = at + second;
        assert_eq!((later - at, at - later), (second, Duration::ZERO));
        assert_eq!((later - second, later.into_std()), (at, std + second));
        assert_eq!(at.checked_duration_since(later), None);
        assert_eq!(later.saturating_duration_since(at), second);
        assert_eq!(at.checked_add(second), Some(later));
        assert_eq!(later.checked_sub(second), Some(at));
        let mut moved = at;
        moved += second;
        assert_eq!(moved, later);
        moved -= second;
        assert!(moved == at && at < later);
        assert_eq!(std::time::Instant::from(Instant::from_std(std)), std);
        assert_eq!(HashSet::from([at, at, later]).len(), 2);
    }

    #[test]
    fn outside_of_a_runtime_it_shows_the_systems_time() {
        let before = std::time::Instant::now();
        let now = Instant::now();
        assert!(before <= now.into_std() && now.into_std() <= std::time::Instant::now());
        assert!(now.elapsed() < Duration::from_secs(3600));
    }
}
