//! Times that a user may set as long as they like.

use colored::time::{Duration, Instant};

/// Some thirty years: longer than any program runs, and no clock ends within it.
const FAR: Duration = Duration::from_secs(1 << 30);

/// The time so long after another one.
pub(crate) fn after(now: Instant, time: Duration) -> Instant {
    now + time.min(FAR)
}
