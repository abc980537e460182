//! What a simulation has found.

use super::failure::{Failure, slow};
use super::run::Seen;
use crate::{End, Found};
use std::fmt;

/// What a simulation has found.
#[derive(Clone, Debug)]
#[must_use = "a failure is in the report: call `assert_passed`"]
pub struct Report {
    pub(super) found: Found,
    pub(super) failure: Option<Failure>,
    pub(super) seen: Seen,
}

impl Report {
    /// The report of one run that is named, which may have failed.
    pub(super) fn of_one(failure: Option<Failure>, seen: Seen) -> Self {
        let (classes, unseen, end) = (1, 1.0, End::Seeds);
        let found =
            Found { seeds: 1, schedules: 1, classes, unseen, digest: 0, end, failure: None };
        Self { found, failure, seen }
    }

    /// How many seeds have been run.
    #[must_use]
    pub fn seeds(&self) -> u64 {
        self.found.seeds
    }

    /// How many different schedules these were.
    #[must_use]
    pub fn schedules(&self) -> usize {
        self.found.schedules
    }

    /// How many [classes](index.html#classes) of schedules these were.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.found.classes
    }

    /// An estimate of the chance that one more seed is of a class that was not seen, by Good and Turing: the share of runs
    /// that were the only one of their class.
    #[must_use]
    pub fn unseen(&self) -> f64 {
        self.found.unseen
    }

    /// How many runs were made again in whole turns, because a turn waited for a lock of std that another turn held, which
    /// was made to wait inside. After eight, all turns of the search are whole, and the standard error says so.
    #[must_use]
    pub fn stuck(&self) -> u32 {
        self.seen.stuck
    }

    /// How many runs failed on [one thread](index.html#how-runs-are-made), and not on threads with the same choices. They count as runs
    /// that end well, and what they have seen counts. After eight, the search makes its runs on threads.
    #[must_use]
    pub fn unconfirmed(&self) -> u32 {
        self.seen.unconfirmed
    }

    /// A hash of what all runs did: which color and which task had each turn, what was drawn, and how the runs differed from the
    /// default. The same seeds of the same program give the same digest, in each process and by debug and release builds. 0 for a
    /// report of one run that was named.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.found.digest
    }

    /// The first failure.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The names of each `sometimes!` that was reached, and whose condition held in no run.
    #[must_use]
    pub fn never_seen(&self) -> &[String] {
        &self.seen.never
    }

    /// How many awaits of [`cancellable`](super::cancellable) futures were cancelled, and waits cut short by
    /// [`Fault::Expiry`](super::Fault::Expiry), in some run or other.
    #[must_use]
    pub fn cancelled(&self) -> usize {
        self.seen.cancelled
    }

    /// Panics with the report if a run has failed.
    ///
    /// # Panics
    ///
    /// So.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(self.failure.is_none(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, failure, seen } = self;
        let Found { seeds, schedules, classes, unseen, end, .. } = found;
        let runs = format!("{seeds} seeds, {schedules} different schedules in {classes} classes");
        match failure {
            Some(failure) => write!(f, "after {runs}: {failure}")?,
            None => {
                let end = match end {
                    End::Seeds => "",
                    End::Budget => "; then the time was over",
                    End::Plateau => "; then no new classes came",
                };
                write!(f, "{runs}: none fails{end}; a new class with {:.1} %", unseen * 100.0)?;
                f.write_str(slow())?;
            }
        }
        if seen.stuck > 0 {
            let stuck = seen.stuck;
            let why = "a turn waited for a lock that another one held";
            write!(f, "\nmade again in whole turns, because {why}: {stuck}")?;
        }
        if !seen.never.is_empty() {
            write!(f, "\nnever seen: {}", seen.never.join(", "))?;
        }
        if seen.unconfirmed > 0 {
            let unconfirmed = seen.unconfirmed;
            write!(f, "\nfailed on one thread, and not on threads, so dropped: {unconfirmed}")?;
        }
        Ok(())
    }
}
