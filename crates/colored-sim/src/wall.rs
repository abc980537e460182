//! The system's clock, which limits how long a search takes, and is where the clock of a run begins. No other place of this crate
//! reads it.

use std::time::Instant;
pub(crate) use std::time::SystemTime;

/// The present.
pub(crate) fn now() -> Instant {
    Instant::now()
}
