//! Polls that hold their workers for long: the setting and the counters.

pub use colored_core::LongPoll;

use colored_core::RunningSlice;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The long poll that a slice of this worker is in, with the times of its thread, if they are known.
pub(crate) fn of_slice(
    worker: usize,
    slice: &RunningSlice,
    times: Option<(Duration, Duration)>,
) -> LongPoll {
    let time = Duration::from_nanos(slice.nanos);
    let mut poll = LongPoll::new(worker, slice.serial, slice.color, time);
    poll.task = slice.task.map(|(id, _)| id);
    poll.spawned = slice.task.map(|(_, spawned)| spawned);
    poll.cpu = times.map(|(cpu, _)| cpu);
    poll.delayed = times.map(|(_, delayed)| delayed);
    poll
}

/// What a runtime counts of long polls.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LongPollMetrics {
    /// Polls that were longer than [`Builder::long_poll`](crate::Builder::long_poll). The reactor thread looks every 5
    /// ms, so it misses some that are hardly longer. Polls inside [`block_in_place`](crate::block_in_place) do not
    /// count.
    pub polls: u64,
    /// The longest of them so far, up to the time when the reactor thread saw it last.
    pub longest: Option<LongPoll>,
    /// Times a spare worker was called to take the place of a held one.
    pub hand_offs: u64,
    /// Spare workers that are wanted at the moment.
    pub spares: usize,
}

/// The setting, and the counters, which only the reactor thread changes.
pub(crate) struct LongPolls {
    /// The time after which a poll is long.
    pub(crate) after: Duration,
    polls: AtomicU64,
    hand_offs: AtomicU64,
    spares: AtomicUsize,
    longest: Mutex<Option<LongPoll>>,
}

impl LongPolls {
    pub(crate) fn new(after: Duration) -> Self {
        Self {
            after,
            polls: AtomicU64::new(0),
            hand_offs: AtomicU64::new(0),
            spares: AtomicUsize::new(0),
            longest: Mutex::new(None),
        }
    }

    /// Counts a poll that the reactor thread has found to be long, once: with the first look if `is_new`.
    pub(crate) fn count(&self, poll: LongPoll, is_new: bool) {
        if is_new {
            // Ordering: a figure, not a signal.
            self.polls.fetch_add(1, Ordering::Relaxed);
        }
        let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        if longest.as_ref().is_none_or(|longest| longest.time < poll.time) {
            *longest = Some(poll);
        }
    }

    /// Sets how many spare workers are wanted; `more` of them were not wanted before.
    pub(crate) fn set_spares(&self, spares: usize, more: usize) {
        // Ordering: figures, not signals.
        self.spares.store(spares, Ordering::Relaxed);
        self.hand_offs.fetch_add(more as u64, Ordering::Relaxed);
    }

    pub(crate) fn metrics(&self) -> LongPollMetrics {
        LongPollMetrics {
            polls: self.polls.load(Ordering::Relaxed),
            longest: self.longest.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            hand_offs: self.hand_offs.load(Ordering::Relaxed),
            spares: self.spares.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LongPolls;
    use colored_core::{Color, LongPoll};
    use std::time::Duration;

    #[test]
    fn a_poll_counts_once_and_the_longest_is_kept() {
        let poll =
            |slice, millis| LongPoll::new(0, slice, Color::DEFAULT, Duration::from_millis(millis));
        let polls = LongPolls::new(Duration::from_millis(5));
        polls.count(poll(1, 5), true);
        polls.count(poll(2, 6), true);
        polls.count(poll(1, 10), false);
        polls.count(poll(3, 7), true);
        assert_eq!(polls.metrics().polls, 3);
        assert_eq!(polls.metrics().longest, Some(poll(1, 10)));
    }
}
