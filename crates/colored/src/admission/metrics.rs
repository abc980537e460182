//! What an admission has done.

use super::control::Control;
use std::time::Duration;

/// What an [`Admission`](super::Admission) has done so far, and how it stands; from
/// [`Admission::metrics`](super::Admission::metrics), all of one moment.
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
    /// What has begun and not ended.
    pub running: u64,
    /// How long what came to its turn last had waited; or, if something waits and nothing has come to
    /// its turn for longer than that, for how long.
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
