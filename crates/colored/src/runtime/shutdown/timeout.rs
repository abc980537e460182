//! [`ShutdownTimeout`]: what a runtime was still doing when its time was over.

use crate::long_poll::{self, LongPoll};
use crate::pool::{Call, Pool};
use crate::wall;
use colored_core::Scheduler;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// The most polls, and the most calls, that the text names.
const NAMED: usize = 8;

/// Some thread or stage of the runtime was still busy when the time was over.
///
/// The text ([`Display`](fmt::Display)) is one paragraph, which names the polls, the calls and the lost events. It
/// names eight polls and eight calls at most, and counts the rest.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let runtime = colored::Runtime::builder().workers(1).build()?;
/// if let Err(busy) = runtime.shutdown_timeout(std::time::Duration::from_secs(5)) {
///     eprintln!("{busy}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownTimeout {
    /// How long the shutdown waited.
    pub timeout: Duration,
    /// Events that stages had accepted and not handled when the time was over: they are lost.
    pub events: u64,
    /// The polls that had not ended, by worker; also a destructor of a task, or a closure of a cell, that had not.
    /// None for a worker that was between two polls at this moment.
    pub polls: Vec<LongPoll>,
    /// The blocking calls that had begun and not ended: of [`spawn_blocking`](crate::spawn_blocking), of a
    /// [`BlockingClass`](crate::task::BlockingClass), and of files.
    pub calls: Vec<StuckCall>,
}

/// A blocking call that had begun and not ended when the time of a shutdown was over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StuckCall {
    /// `spawn_blocking`, `fs` for an operation of a file, or the name of the
    /// [`BlockingClass`](crate::task::BlockingClass).
    pub class: String,
    /// How long the call had run.
    pub time: Duration,
    /// Where the program made the call. None for a file.
    pub spawned: Option<&'static Location<'static>>,
}

impl ShutdownTimeout {
    /// What is going on at this moment.
    pub(super) fn now(timeout: Duration, events: u64, scheduler: &Scheduler, pool: &Pool) -> Self {
        let workers = 0..scheduler.workers() + scheduler.spares();
        let poll = |worker| Some(long_poll::of_slice(worker, &scheduler.running(worker)?, None));
        Self {
            timeout,
            events,
            polls: workers.filter_map(poll).collect(),
            calls: pool.running().into_iter().map(StuckCall::new).collect(),
        }
    }
}

impl StuckCall {
    fn new((class, call): (String, Call)) -> Self {
        // The places of file operations are in this crate.
        let spawned = (class != "fs").then_some(call.site);
        Self { class, time: wall::since(call.since), spawned }
    }
}

impl fmt::Display for StuckCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, time, spawned } = self;
        write!(f, "a blocking call of `{class}`")?;
        if let Some(spawned) = spawned {
            write!(f, " (made at {spawned})")?;
        }
        write!(f, " has run for {} ms", time.as_millis())
    }
}

impl fmt::Display for ShutdownTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { timeout, events, polls, calls } = self;
        write!(f, "the runtime had not ended after {timeout:?}")?;
        let mut first = true;
        let mut begin = || if std::mem::take(&mut first) { ": " } else { "; " };
        for poll in polls.iter().take(NAMED) {
            write!(f, "{}{poll}", begin())?;
        }
        if polls.len() > NAMED {
            write!(f, "{}{} more workers are in polls", begin(), polls.len() - NAMED)?;
        }
        for call in calls.iter().take(NAMED) {
            write!(f, "{}{call}", begin())?;
        }
        if calls.len() > NAMED {
            write!(f, "{}{} more blocking calls run", begin(), calls.len() - NAMED)?;
        }
        if *events > 0 {
            let text = "events that stages have accepted and not handled are lost";
            write!(f, "{}{events} {text}", begin())?;
        }
        if !polls.is_empty() || !calls.is_empty() {
            f.write_str(". A thread ends when its poll or call returns")
        } else if *events == 0 {
            f.write_str(": a thread was busy, but in no poll and no blocking call")
        } else {
            Ok(())
        }
    }
}

impl std::error::Error for ShutdownTimeout {}

#[cfg(test)]
mod tests {
    use super::{ShutdownTimeout, StuckCall};
    use std::panic::Location;
    use std::time::Duration;

    fn call(class: &str, site: Option<&'static Location<'static>>) -> StuckCall {
        StuckCall { class: class.to_owned(), time: Duration::from_millis(70), spawned: site }
    }

    fn text(events: u64, calls: Vec<StuckCall>) -> String {
        let timeout = Duration::from_millis(50);
        ShutdownTimeout { timeout, events, polls: Vec::new(), calls }.to_string()
    }

    #[test]
    fn the_text_is_one_sentence_for_each_state() {
        let site = Location::caller();
        let one = text(0, vec![call("fs", None), call("thumbs", Some(site))]);
        assert_eq!(
            one,
            format!(
                "the runtime had not ended after 50ms: a blocking call of `fs` has run for 70 ms; a blocking \
                 call of `thumbs` (made at {site}) has run for 70 ms. A thread ends when its poll or call returns"
            )
        );
        assert_eq!(
            text(3, Vec::new()),
            "the runtime had not ended after 50ms: 3 events that stages have accepted and not handled are lost"
        );
        assert!(text(0, Vec::new()).contains("in no poll and no blocking call"));
    }

    #[test]
    fn many_calls_are_counted() {
        let many = text(0, vec![call("fs", None); 30]);
        assert_eq!(many.matches("`fs`").count(), 8);
        assert!(many.contains("; 22 more blocking calls run."), "{many}");
    }
}
