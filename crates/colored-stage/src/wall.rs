//! The clock of delays: the system's, or that of the simulation which makes the calling thread's run. It does not follow the
//! clock of a runtime that is paused. No other place of this crate reads it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The present of the simulation that the calling thread works for, if there is one.
static SIMULATED: OnceLock<fn() -> Option<Instant>> = OnceLock::new();

/// Asks this function for the time from now on, in the whole process; the first one that is given stays. It returns the
/// present of the simulation that its caller works for, or `None` for the system's time.
pub fn follow_simulations(present: fn() -> Option<Instant>) {
    SIMULATED.get_or_init(|| present);
}

/// The present.
#[inline]
pub(crate) fn now() -> Instant {
    SIMULATED.get().and_then(|present| present()).unwrap_or_else(Instant::now)
}

/// The time since `begin`.
#[inline]
pub(crate) fn since(begin: Instant) -> Duration {
    now().saturating_duration_since(begin)
}
