//! Texts that cost something: [`Kind`], and the least time between two of a kind.

use crate::wall;
use std::time::{Duration, Instant};

/// The least time between two snapshots, two dumps, and two traces.
pub(super) const PACE: Duration = Duration::from_millis(500);

/// What a reader waits for, and gets when it may be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Snapshot,
    Dump,
    Trace,
}

/// How long it takes until the next one may be made, if the latest was made then.
pub(super) fn rest(latest: Option<Instant>) -> Duration {
    latest.map_or(Duration::ZERO, |made| PACE.saturating_sub(wall::since(made)))
}
