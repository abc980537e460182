//! Partitions that cannot be read. Each has its own errors, and its own pauses: the others do not hear of it.
//!
//! Invariant: a partition that has failed is read again when its pause is over, as long as its claim is active.

use super::clock::after;
use super::failure::ConsumerError;
use super::line::{Line, say};
use super::place::Begin;
use super::state::State;
use crate::source::{Error, Owned};
use colored::time::{Duration, Instant};

/// The pause after the first error, which doubles with each up to the longest. Guesses.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// An attempt that has not failed for so long has succeeded, though there may be no records. A guess.
const GRACE: Duration = Duration::from_secs(5);

/// What is wrong with a partition.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    /// The last error, and the errors in a row. None since records have come.
    error: Option<String>,
    errors: u32,
    /// When it is to be read again.
    until: Option<Instant>,
    /// When it was read again.
    since: Option<Instant>,
    line: Line,
}

impl Trouble {
    /// Records have come.
    pub(crate) fn end(&mut self) {
        if self.error.is_some() {
            (self.error, self.errors, self.until) = (None, 0, None);
        }
    }

    /// Whether it is to be read again later.
    pub(crate) fn is_pausing(&self) -> bool {
        self.until.is_some()
    }

    /// The last error, and the errors in a row, unless an attempt has succeeded since.
    pub(crate) fn current(&self) -> Option<(&str, u32)> {
        let waits = |since: Instant| Instant::now().saturating_duration_since(since) < GRACE;
        let is_current = self.until.is_some() || self.since.is_some_and(waits);
        Some((self.error.as_deref().filter(|_| is_current)?, self.errors))
    }
}

impl State {
    /// A partition could not be read.
    pub(crate) fn note_trouble(&mut self, owned: &Owned, error: &Error) {
        let Some(id) = self.active(owned) else { return };
        let trouble = &mut self.claims.get_mut(&id).expect("it is active").trouble;
        let doubled = FIRST.saturating_mul(2_u32.saturating_pow(trouble.errors)).min(LONGEST);
        trouble.errors = trouble.errors.saturating_add(1);
        trouble.until = Some(after(Instant::now(), doubled));
        trouble.error = Some(error.to_string());
        say(trouble.line.next(&format!("{}: it is tried again: {error}", owned.partition)));
        self.sums().figures.engine_errors += 1;
        self.has_trouble = true;
    }

    /// The partitions whose pause is over.
    pub(crate) fn take_retried(&mut self, now: Instant) -> Vec<Begin> {
        let mut begins = Vec::new();
        if !self.has_trouble {
            return begins;
        }
        for (id, entry) in &mut self.claims {
            if entry.trouble.until.take_if(|until| *until <= now).is_some() {
                entry.trouble.since = Some(now);
                begins.push(Begin { id: *id, owned: entry.owned().clone() });
            }
        }
        self.has_trouble = self.next_retry().is_some();
        begins
    }

    /// When the next pause is over.
    pub(crate) fn next_retry(&self) -> Option<Instant> {
        let until = self.claims.values().filter_map(|entry| entry.trouble.until);
        until.min().filter(|_| self.has_trouble)
    }

    /// A consumer that stops says which of its partitions it could not read.
    pub(crate) fn report_trouble(&mut self) {
        let unread = self.claims.values().find_map(|entry| {
            let (error, _) = entry.trouble.current()?;
            Some(Error::new(format!("{} cannot be read: {error}", entry.owned().partition)))
        });
        if let Some(error) = unread {
            self.fail(ConsumerError::Source(error));
        }
    }
}
