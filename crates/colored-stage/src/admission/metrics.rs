//! The counters of an admission.

use super::control::Control;
use std::time::Duration;

/// A snapshot of the counters and the state of an [`Admission`](super::Admission), all taken at one
/// moment; from [`Admission::metrics`](super::Admission::metrics).
///
/// `admitted` is always `waiting + begun + shed + abandoned`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Arrivals that were admitted.
    pub admitted: u64,
    /// Arrivals that were refused.
    pub rejected: u64,
    /// Admitted requests whose turn came in time.
    pub begun: u64,
    /// Admitted requests whose turn came too late.
    pub shed: u64,
    /// Admitted requests that were dropped before their turn.
    pub abandoned: u64,
    /// Admitted requests that wait for their turn.
    pub waiting: u64,
    /// Work that has begun and not ended.
    pub running: u64,
    /// How long the work whose turn came last had waited; or, if work waits and no turn has come
    /// for longer than that, the time since the last turn.
    pub delay: Duration,
}

impl Metrics {
    pub(super) fn of(control: &Control, now: u64, running: u64) -> Self {
        let counts = control.counts;
        Self {
            admitted: counts.admitted,
            rejected: counts.rejected,
            begun: counts.begun,
            shed: counts.shed,
            abandoned: counts.abandoned,
            waiting: counts.waiting,
            running,
            delay: Duration::from_nanos(control.delay(now)),
        }
    }
}
