//! What a simulation has found.

use super::run::Seen;
use colored_sim::{Found, Outcome, Replay};
use std::fmt;

/// What a simulation has found.
#[derive(Clone, Debug)]
#[must_use = "a failure is in the report: call `assert_passed`"]
pub struct Report {
    seeds: u64,
    schedules: usize,
    classes: usize,
    unseen: f64,
    failure: Option<Failure>,
    seen: Seen,
}

/// The first run that failed, shrunk.
#[derive(Clone, Debug)]
pub struct Failure {
    message: String,
    replay: Replay,
    /// How many choices were not the default before the shrinking.
    first_choices: usize,
    runs: usize,
    differs: Option<String>,
}

impl Report {
    pub(super) fn new(found: Found, seen: Seen) -> Self {
        Self {
            seeds: found.seeds,
            schedules: found.schedules,
            classes: found.classes,
            unseen: found.unseen,
            failure: found.failure.map(Failure::new),
            seen,
        }
    }

    pub(super) fn of_replay(replay: Replay, outcome: Outcome, seen: Seen) -> Self {
        let first_choices = replay.choices();
        let failure = outcome.err().map(|message| Failure {
            message,
            replay,
            first_choices,
            runs: 0,
            differs: None,
        });
        Self { seeds: 1, schedules: 1, classes: 1, unseen: 1.0, failure, seen }
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

    /// How many [classes](super#classes) of schedules these were.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// An estimate of the chance that one more seed is of a class that was not seen, by Good and Turing: the share of runs
    /// that were the only one of their class.
    #[must_use]
    pub fn unseen(&self) -> f64 {
        self.unseen
    }

    /// How many runs were made again in whole turns, because a turn waited for a lock of std that another turn held, which
    /// was made to wait inside.
    #[must_use]
    pub fn stuck(&self) -> u32 {
        self.seen.stuck
    }

    /// The first failure.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The names of each [`sometimes!`](super::sometimes) that was reached, and whose condition held in no run.
    #[must_use]
    pub fn never_seen(&self) -> &[String] {
        &self.seen.never
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

impl Failure {
    pub(super) fn new(failure: colored_sim::Failure) -> Self {
        Self {
            message: failure.message,
            replay: failure.replay,
            first_choices: failure.choices,
            runs: failure.runs,
            differs: failure.differs,
        }
    }

    /// What was wrong: the message and the place of the panic, or what did not end.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The value of `COLORED_SIM_REPLAY` that repeats the run.
    #[must_use]
    pub fn replay(&self) -> String {
        self.replay.to_string()
    }

    /// How many choices of the run are not the default: nothing gives way inside a turn, the worker that ran last goes on,
    /// and no fault happens.
    #[must_use]
    pub fn choices(&self) -> usize {
        self.replay.choices()
    }

    /// How a second run with the same choices differed. Then something else decides too: see [the
    /// module](super#what-is-simulated).
    #[must_use]
    pub fn differs(&self) -> Option<&str> {
        self.differs.as_deref()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seeds, schedules, classes, unseen, failure, seen } = self;
        let after = if failure.is_some() { "after " } else { "" };
        write!(f, "{after}{seeds} seeds, {schedules} different schedules in {classes} classes: ")?;
        match failure {
            None => write!(
                f,
                "none fails; the next seed is of a new class with {:.1} %",
                unseen * 100.0
            )?,
            Some(failure) => write!(f, "{failure}")?,
        }
        if seen.stuck > 0 {
            let stuck = seen.stuck;
            write!(
                f,
                "\nmade again in whole turns, because a turn waited for a lock that another one held: {stuck}"
            )?;
        }
        if !seen.never.is_empty() {
            write!(f, "\nnever seen: {}", seen.never.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, replay, first_choices, runs, differs } = self;
        writeln!(f, "seed {} fails: {message}", replay.seed)?;
        match differs {
            Some(differs) => write!(
                f,
                "  a second run with the same choices differs: {differs}. Something outside the simulation decides: the order \
                 of a HashMap, `select!` without `biased`, a real clock, a thread, or state in a static"
            )?,
            None => writeln!(
                f,
                "  confirmed by a second run; {} of {first_choices} choices are needed, found in {runs} runs",
                replay.choices()
            )?,
        }
        write!(f, "\n  again: COLORED_SIM_REPLAY={replay}")
    }
}

impl std::error::Error for Failure {}
