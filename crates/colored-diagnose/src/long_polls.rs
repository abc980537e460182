//! [`LongPolls`]: the latest long polls, and what hears of them.

use colored_core::{LongPoll, contain};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The function that hears of each long poll.
pub type Hook = Arc<dyn Fn(&LongPoll) + Send + Sync>;

/// A program without a hook is told of the first poll that takes so long: it may not end at all.
const VERY_LONG: Duration = Duration::from_secs(1);

/// How many of the latest long polls are kept.
const RECENT: usize = 64;

/// What to do about it.
const ADVICE: &str = "nothing else of this color runs meanwhile. If the task blocks its thread, as a `blocking_` method of \
    `colored::sync` does, await the method without `blocking_`, or block in `spawn_blocking`; if it computes, do so in \
    `spawn_blocking` or call `yield_now` now and then. `Options::on_long_poll` hears of such polls in place of this line";

/// The latest long polls. Only the reactor thread adds to them.
pub(crate) struct LongPolls {
    hook: Option<Hook>,
    /// The youngest last, each as it was seen last.
    recent: Mutex<VecDeque<LongPoll>>,
    /// The standard error has a line about a very long poll.
    has_warned: AtomicBool,
}

impl LongPolls {
    pub(crate) fn new(hook: Option<Hook>) -> Self {
        Self { hook, recent: Mutex::default(), has_warned: AtomicBool::new(false) }
    }

    /// The reactor thread has found a poll to be long, for the first time if `is_new`.
    pub(crate) fn report(&self, poll: &LongPoll, is_new: bool) {
        match &self.hook {
            Some(hook) if is_new => contain(|| hook(poll)),
            None if poll.time >= VERY_LONG => self.warn(poll),
            _ => {}
        }
        self.remember(poll, is_new);
    }

    /// Keeps the poll among the recent ones, or what has changed since it was seen last.
    fn remember(&self, poll: &LongPoll, is_new: bool) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |of: &&mut LongPoll| (of.worker, of.slice) == (poll.worker, poll.slice);
        match recent.iter_mut().rev().find(is_it).filter(|_| !is_new) {
            Some(place) => poll.clone_into(place),
            None => {
                if recent.len() == RECENT {
                    recent.pop_front();
                }
                recent.push_back(poll.clone());
            }
        }
    }

    /// The latest long polls, the youngest last: at most 64. Each has the length at which it was seen last, up to 5 ms
    /// before its end.
    pub(crate) fn recent(&self) -> Vec<LongPoll> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Once in a runtime's life.
    fn warn(&self, poll: &LongPoll) {
        // Ordering: only the reactor thread comes here.
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            // A program without a standard error goes on all the same.
            let _ = writeln!(io::stderr(), "colored: {poll}; {ADVICE}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LongPolls, RECENT};
    use colored_core::{Color, LongPoll};
    use std::time::Duration;

    fn poll(slice: u64, millis: u64) -> LongPoll {
        LongPoll::new(0, slice, Color::DEFAULT, Duration::from_millis(millis))
    }

    #[test]
    fn a_poll_is_kept_once_with_its_last_length_and_the_oldest_goes() {
        let polls = LongPolls::new(None);
        polls.report(&poll(1, 5), true);
        polls.report(&poll(2, 6), true);
        polls.report(&poll(1, 10), false);
        assert_eq!(polls.recent(), [poll(1, 10), poll(2, 6)]);
        let others = 3..3 + RECENT as u64 - 1;
        others.for_each(|slice| polls.report(&poll(slice, 5), true));
        let recent = polls.recent();
        assert_eq!(recent.len(), RECENT);
        assert_eq!(recent.first(), Some(&poll(2, 6)));
    }
}
