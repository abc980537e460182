//! The times at which the reactor thread searches for deadlocks.

use crate::wall;
use colored_core::{Scheduler, look_for_deadlocks};
use std::time::{Duration, Instant};

/// The searches take at most one part in 50 of the thread's time. A search costs more the more sections wait, and the
/// longer the lines behind them are.
const SHARE: u32 = 50;

/// The state that is kept from one search to the next.
pub(crate) struct DeadlockSearch {
    /// In nanoseconds: the search skips younger waits.
    delay: u64,
    not_before: Instant,
}

impl DeadlockSearch {
    pub(crate) fn new(delay: Duration) -> Self {
        let delay = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        Self { delay, not_before: wall::now() }
    }

    /// Searches, if it is time. Returns the time until the next search, even if nothing runs; `None` if there is no need to.
    pub(crate) fn check(&mut self, scheduler: &Scheduler) -> Option<Duration> {
        if !scheduler.has_had_sections() {
            return None;
        }
        let begin = wall::now();
        if begin < self.not_before {
            return Some(self.not_before - begin);
        }
        let due = look_for_deadlocks(scheduler, self.delay);
        self.not_before = begin + wall::since(begin) * SHARE;
        due.map(Duration::from_nanos)
    }
}
