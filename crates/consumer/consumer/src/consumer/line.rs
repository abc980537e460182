//! Lines on the standard error, at a bounded rate.

use colored::time::{Duration, Instant};
use std::io::{self, Write};

/// The least time between two lines of a kind.
const BETWEEN: Duration = Duration::from_secs(30);

/// Says it, if there is something. Who has closed the standard error reads no lines; `eprintln` would panic. It may wait for who
/// reads it: nobody calls this with a lock.
pub(crate) fn say(text: impl Into<Option<String>>) {
    if let Some(text) = text.into() {
        let _ = writeln!(io::stderr(), "colored-consumer: {text}");
    }
}

/// Lines of a kind: the first appears at once, and then one in [`BETWEEN`], which says how many others did not.
#[derive(Debug, Default)]
pub(crate) struct Line {
    last: Option<Instant>,
    left_out: u64,
}

impl Line {
    /// What is to be said now.
    #[must_use]
    pub(crate) fn next(&mut self, text: &str) -> Option<String> {
        let now = Instant::now();
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < BETWEEN) {
            self.left_out += 1;
            return None;
        }
        self.last = Some(now);
        Some(match std::mem::take(&mut self.left_out) {
            0 => text.to_owned(),
            count => format!("{text} ({count} lines like this were left out)"),
        })
    }
}
