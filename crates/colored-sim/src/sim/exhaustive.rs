//! What an exhaustive search has found.

use super::failure::Failure;
use crate::Exhausted;
use std::fmt;

/// What [`Builder::exhaust`](super::Builder::exhaust) has found.
#[derive(Clone, Debug)]
#[must_use = "a failure is in the report"]
pub struct Exhaustive {
    runs: u64,
    classes: usize,
    is_complete: bool,
    has_few_colors: bool,
    failure: Option<Failure>,
}

impl Exhaustive {
    pub(super) fn new(found: &Exhausted, has_few_colors: bool, failure: Option<Failure>) -> Self {
        Self {
            runs: found.runs,
            classes: found.classes,
            is_complete: found.is_complete && has_few_colors,
            has_few_colors,
            failure,
        }
    }

    /// How many runs were made.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// How many [classes](index.html#classes) they were of.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Whether all classes were seen, and no run has failed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The first failure, with which the search has ended.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

impl fmt::Display for Exhaustive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, classes, is_complete, has_few_colors, failure } = self;
        match failure {
            Some(failure) => write!(f, "after {runs} runs of {classes} classes: {failure}"),
            None if *is_complete => write!(f, "all {classes} classes, in {runs} runs: none fails"),
            None if !has_few_colors => write!(
                f,
                "{runs} runs of {classes} classes: none fails, but there are more than 64 colors, so classes may be left out"
            ),
            None => write!(
                f,
                "{runs} runs of {classes} classes: none fails, but the runs were not enough for all classes"
            ),
        }
    }
}
