//! [`Admission`]: under overload, it refuses early the work that would begin too late.

mod admitted;
mod codel;
mod control;
mod gate;
mod metrics;
mod overloaded;
mod shared;
#[cfg(test)]
mod tests;

pub use self::admitted::{Admitted, Run, Running};
pub use self::metrics::Metrics;
pub use self::overloaded::Overloaded;

use self::control::Control;
use self::overloaded::Check;
use self::shared::{Shared, YEAR};
use colored_core::port::report_overload;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// The interval of CoDel, in targets.
///
/// RFC 8289 section 4.3 recommends a target of 5 to 10 % of the interval.
const TARGETS: u32 = 10;

/// Keeps the delay of work near a target by refusing some of the work; see the documentation of `colored::admission`.
///
/// Clones share their state. Works inside and outside of runtimes. [`admit`](Self::admit) and
/// [`begin`](Admitted::begin) cost a look at the clock and a lock that is held for some 20 ns.
#[derive(Clone)]
pub struct Admission {
    shared: Arc<Shared>,
}

impl Admission {
    /// Holds a delay of `target`: the time that work may wait for its turn. CoDel's interval is ten
    /// targets: a queue is *standing* when nothing in it has waited for less than the target during that interval.
    ///
    /// The target should be longer than the duration of a piece of work, divided by the number of
    /// pieces that run at once: otherwise hardly anything may wait.
    ///
    /// # Panics
    ///
    /// If the target is zero, or longer than a tenth of a year.
    #[must_use]
    #[track_caller]
    pub fn new(target: Duration) -> Self {
        let interval = target.saturating_mul(TARGETS);
        assert!(
            !target.is_zero() && interval <= YEAR,
            "an admission with target {target:?}: it must be above zero, and ten times as much up to a year"
        );
        Self { shared: Arc::new(Shared::new(target, interval)) }
    }

    /// Admits work that arrives now, or refuses it.
    ///
    /// # Errors
    ///
    /// [`Overloaded`]: report it, or close the connection, at once.
    pub fn admit(&self) -> Result<Admitted, Overloaded> {
        let (control, now) = self.shared.lock();
        self.arrive(control, now, now)
    }

    /// Admits work that has waited since `arrived`, or refuses it.
    ///
    /// Use it for requests with a time of arrival before this call: a time stamp of the kernel, of
    /// a queue, or of a thread that reads ahead. The time since `arrived` counts as delay, so no
    /// request begins later than two targets after `arrived`. A moment in the future counts as now.
    ///
    /// ```
    /// # use colored_stage as colored;
    /// use colored::admission::Admission;
    /// use std::thread::sleep;
    /// use std::time::{Duration, Instant};
    ///
    /// let arrived = Instant::now();
    /// let admission = Admission::new(Duration::from_millis(1));
    /// sleep(Duration::from_millis(3));
    /// let overloaded = admission.admit_since(arrived).unwrap_err();
    /// assert!(overloaded.delay() >= Duration::from_millis(3));
    /// assert!(admission.admit().is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Overloaded`], also if the work has already waited for more than two targets.
    pub fn admit_since(&self, arrived: Instant) -> Result<Admitted, Overloaded> {
        let (control, now) = self.shared.lock();
        self.arrive(control, self.shared.time(arrived).min(now), now)
    }

    fn arrive(
        &self,
        mut control: MutexGuard<'_, Control>,
        arrived: u64,
        now: u64,
    ) -> Result<Admitted, Overloaded> {
        match control.arrive(arrived, now) {
            Ok(()) => {
                drop(control);
                Ok(Admitted::new(Arc::clone(&self.shared), arrived))
            }
            Err(check) => {
                let delay = match check {
                    Check::Queue => control.delay(now),
                    Check::AgeAtArrival | Check::AgeAtTurn => now.saturating_sub(arrived),
                };
                drop(control);
                report_overload();
                Err(Overloaded::new(check, delay))
            }
        }
    }

    /// Returns the counters, and the present state.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let (control, now) = self.shared.lock();
        // Ordering: a figure, not a signal.
        Metrics::of(&control, now, self.shared.running.load(Ordering::Relaxed))
    }

    /// Returns the present delay; see [`Metrics::delay`].
    #[must_use]
    pub fn delay(&self) -> Duration {
        let (control, now) = self.shared.lock();
        Duration::from_nanos(control.delay(now))
    }

    /// The delay that is held.
    #[must_use]
    pub fn target(&self) -> Duration {
        self.shared.target
    }

    /// For how long a queue must stand.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.shared.interval
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("target", &self.target())
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}
