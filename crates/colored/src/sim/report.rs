//! What a simulation has found.

use super::failure::Failure;
use super::run::Sometimes;
use colored_sim::{End, Found};
use std::fmt;

/// What a simulation has found.
#[derive(Clone, Debug)]
#[must_use = "a failure is in the report: call `assert_passed`"]
pub struct Report {
    seeds: u64,
    schedules: usize,
    digest: u64,
    end: End,
    failure: Option<Failure>,
    never_seen: Vec<String>,
}

impl Report {
    pub(super) fn new(found: Found, failure: Option<Failure>, sometimes: Sometimes) -> Self {
        let Found { seeds, schedules, digest, end, .. } = found;
        Self { seeds, schedules, digest, end, failure, never_seen: never_seen(sometimes) }
    }

    /// The report of one run that is named, which may have failed.
    pub(super) fn of_one(failure: Option<Failure>, sometimes: Sometimes) -> Self {
        let never_seen = never_seen(sometimes);
        Self { seeds: 1, schedules: 1, digest: 0, end: End::Seeds, failure, never_seen }
    }

    /// How many seeds have been run.
    #[must_use]
    pub fn seeds(&self) -> u64 {
        self.seeds
    }

    /// How many different schedules these were.
    #[must_use]
    pub fn schedules(&self) -> usize {
        self.schedules
    }

    /// A hash of what all runs did: which color and which task had each turn, what was drawn, and how the runs differed from the
    /// default. The same seeds of the same program give the same digest, in each process and by debug and release builds. 0 for a
    /// report of one run that was named.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// The first failure.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    pub(super) fn failure_mut(&mut self) -> Option<&mut Failure> {
        self.failure.as_mut()
    }

    /// The names of each [`sometimes!`](super::sometimes) that was reached, and whose condition held in no run.
    #[must_use]
    pub fn never_seen(&self) -> &[String] {
        &self.never_seen
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

fn never_seen(sometimes: Sometimes) -> Vec<String> {
    sometimes.into_iter().filter(|(_, held)| !held).map(|(name, _)| name).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seeds, schedules, end, failure, never_seen, .. } = self;
        match (failure, end) {
            (Some(failure), _) => {
                write!(f, "after {seeds} seeds, {schedules} different schedules: {failure}")?;
            }
            (None, end) => {
                write!(f, "{seeds} seeds, {schedules} different schedules: none fails")?;
                f.write_str(match end {
                    End::Seeds => "",
                    End::Budget => "; then the time was over",
                    End::Plateau => "; then no new schedules came",
                })?;
            }
        }
        if !never_seen.is_empty() {
            write!(f, "\nnever seen: {}", never_seen.join(", "))?;
        }
        Ok(())
    }
}
