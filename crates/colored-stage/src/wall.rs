//! The system's clock. No other place of this crate reads it. Delays do not follow the clock of a runtime, which may be
//! paused.

use std::time::{Duration, Instant};

/// The present.
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The time since `begin`.
#[inline]
pub(crate) fn since(begin: Instant) -> Duration {
    begin.elapsed()
}
