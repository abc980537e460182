//! Polls that hold their workers for long: the settings, the counters and the report.

use colored_core::{Color, RunningSlice, contain};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A poll that holds its worker for long: it blocks, or computes without a break.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongPoll {
    /// The index of the worker, counted from 0. Spare workers have the indices after those of the workers.
    pub worker: usize,
    /// How long the worker had been in the poll when the monitor thread looked, at most the length of a slice
    /// ([`Tuning::slice`](crate::runtime::Tuning::slice)) too long.
    pub time: Duration,
    /// The color.
    pub color: Color,
    /// The task; none for a closure of a cell, of [`when`](crate::when()), or of [`post`](crate::ColorCell::post).
    pub task: Option<colored_core::Id>,
    /// Where the task was spawned.
    pub spawned: Option<&'static Location<'static>>,
    /// The CPU time of the worker's thread in that time: close to [`time`](Self::time) if the poll computes, close to 0 if
    /// it blocks its thread. The monitor thread measures a part of the poll, from its second look, and takes the rest to
    /// be like it. None before that, and where the system does not tell: everywhere but on Linux.
    pub cpu: Option<Duration>,
    /// The time that the thread could have run, and the system ran other threads. None as for `cpu`.
    pub delayed: Option<Duration>,
    /// The number of the slice: with the worker's, it tells two polls apart.
    pub(crate) slice: u64,
}

impl LongPoll {
    pub(crate) fn new(
        worker: usize,
        slice: &RunningSlice,
        times: Option<(Duration, Duration)>,
    ) -> Self {
        Self {
            worker,
            time: Duration::from_nanos(slice.nanos),
            color: slice.color,
            task: slice.task.map(|(id, _)| id),
            spawned: slice.task.map(|(_, spawned)| spawned),
            cpu: times.map(|(cpu, _)| cpu),
            delayed: times.map(|(_, delayed)| delayed),
            slice: slice.serial,
        }
    }
}

impl fmt::Display for LongPoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worker, time, color, .. } = self;
        write!(f, "worker {worker} has been in one poll for {} ms: ", time.as_millis())?;
        match (self.task, self.spawned) {
            (Some(task), Some(spawned)) => {
                write!(f, "{task:?}")?;
                if let Some(name) = colored_core::task_name(task) {
                    write!(f, " {name:?}")?;
                }
                write!(f, " (spawned at {spawned})")?;
            }
            _ => f.write_str("a closure")?,
        }
        write!(f, " under {color}")
    }
}

/// What a runtime counts of long polls.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LongPollMetrics {
    /// Polls that were longer than [`Builder::long_poll`](crate::Builder::long_poll). The monitor thread looks every 5
    /// ms, so it misses some that are hardly longer. Polls inside [`block_in_place`](crate::block_in_place) do not
    /// count.
    pub polls: u64,
    /// The longest of them so far, up to the time when the monitor thread saw it last.
    pub longest: Option<LongPoll>,
    /// Times a spare worker was called to take the place of a held one.
    pub hand_offs: u64,
    /// Spare workers that are wanted at the moment.
    pub spares: usize,
}

/// A program without a hook is told of the first poll that takes so long: it may not end at all.
const VERY_LONG: Duration = Duration::from_secs(1);

/// How many of the latest long polls are kept.
const RECENT: usize = 64;

/// What to do about it.
const ADVICE: &str = "nothing else of this color runs meanwhile. If the task blocks its thread, as a `blocking_` method of \
    `colored::sync` does, await the method without `blocking_`, or block in `spawn_blocking`; if it computes, do so in \
    `spawn_blocking` or call `yield_now` now and then. `Builder::on_long_poll` hears of such polls in place of this line";

/// The function that hears of each long poll.
pub(crate) type Hook = Arc<dyn Fn(&LongPoll) + Send + Sync>;

/// When a poll is long.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The time after which a poll is long.
    pub(crate) after: Duration,
    pub(crate) hook: Option<Hook>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("after", &self.after).finish_non_exhaustive()
    }
}

/// The settings, and the counters, which only the monitor thread changes.
pub(crate) struct LongPolls {
    pub(crate) settings: Settings,
    polls: AtomicU64,
    hand_offs: AtomicU64,
    spares: AtomicUsize,
    longest: Mutex<Option<LongPoll>>,
    /// The youngest last, each as it was seen last.
    recent: Mutex<VecDeque<LongPoll>>,
    /// The standard error has a line about a very long poll.
    has_warned: AtomicBool,
}

impl LongPolls {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            polls: AtomicU64::new(0),
            hand_offs: AtomicU64::new(0),
            spares: AtomicUsize::new(0),
            longest: Mutex::new(None),
            recent: Mutex::default(),
            has_warned: AtomicBool::new(false),
        }
    }

    /// The monitor thread has found a poll to be long, for the first time if `is_new`.
    pub(crate) fn report(&self, poll: LongPoll, is_new: bool) {
        if is_new {
            // Ordering: a figure, not a signal.
            self.polls.fetch_add(1, Ordering::Relaxed);
            if let Some(hook) = &self.settings.hook {
                contain(|| hook(&poll));
            }
        }
        if self.settings.hook.is_none() && poll.time >= VERY_LONG {
            self.warn(&poll);
        }
        self.remember(&poll, is_new);
        let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        if longest.as_ref().is_none_or(|longest| longest.time < poll.time) {
            *longest = Some(poll);
        }
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
        // Ordering: only the monitor thread comes here.
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            // A program without a standard error goes on all the same.
            let _ = writeln!(io::stderr(), "colored: {poll}; {ADVICE}");
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
    use super::{LongPoll, LongPolls, RECENT, Settings};
    use colored_core::Color;
    use std::time::Duration;

    fn poll(slice: u64, millis: u64) -> LongPoll {
        LongPoll {
            worker: 0,
            time: Duration::from_millis(millis),
            color: Color::DEFAULT,
            task: None,
            spawned: None,
            cpu: None,
            delayed: None,
            slice,
        }
    }

    #[test]
    fn a_poll_is_kept_once_with_its_last_length_and_the_oldest_goes() {
        let polls = LongPolls::new(Settings { after: Duration::from_millis(5), hook: None });
        polls.report(poll(1, 5), true);
        polls.report(poll(2, 6), true);
        polls.report(poll(1, 10), false);
        assert_eq!(polls.recent(), [poll(1, 10), poll(2, 6)]);
        let others = 3..3 + RECENT as u64 - 1;
        others.for_each(|slice| polls.report(poll(slice, 5), true));
        let recent = polls.recent();
        assert_eq!(recent.len(), RECENT);
        assert_eq!(recent.first(), Some(&poll(2, 6)));
        assert_eq!(polls.metrics().polls, RECENT as u64 + 1);
        assert_eq!(polls.metrics().longest, Some(poll(1, 10)));
    }
}
