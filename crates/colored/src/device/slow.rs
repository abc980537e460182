//! Attempts that take long although they do not wait for data: for a place in the queue of a device, or for a lock.

use super::counts::Event;
use super::tries::Outcome;
use crate::wall;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// An attempt that takes longer is counted.
pub(crate) const LIMIT: Duration = Duration::from_micros(100);

/// One attempt of so many is timed, since a look at the clock costs a tenth of a short read.
const SAMPLE: u8 = 16;

/// When an attempt begins, if it is one that is timed.
pub(crate) fn sample() -> Option<Instant> {
    thread_local!(static ATTEMPTS: Cell<u8> = const { Cell::new(0) });
    ATTEMPTS.with(|attempts| {
        attempts.set(attempts.get().wrapping_add(1));
        attempts.get().is_multiple_of(SAMPLE).then(wall::now)
    })
}

/// What a slow attempt is counted as, and `None` for one that the file system does not support.
pub(crate) fn event(outcome: Outcome) -> Option<Event> {
    match outcome {
        Outcome::Hit => Some(Event::SlowHit),
        Outcome::Miss => Some(Event::SlowRefusal),
        Outcome::Unsupported => None,
    }
}
