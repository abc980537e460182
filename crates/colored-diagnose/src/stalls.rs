//! A dump when a poll has held its worker for very long.

use crate::dump::{DumpHook, make};
use crate::subject::Subject;
use crate::wall;
use colored_core::{InPlace, contain};
use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The least time between two dumps.
const PAUSE: Duration = Duration::from_secs(60);

/// When to make a dump, and what hears of it.
#[derive(Clone)]
pub struct StallSettings {
    /// How long a poll has held its worker then.
    pub after: Duration,
    /// The function that hears of the dump.
    pub hook: DumpHook,
}

impl fmt::Debug for StallSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StallSettings").field("after", &self.after).finish_non_exhaustive()
    }
}

/// The state that the reactor thread keeps. Dropping it waits for the dump that is being made.
#[derive(Debug)]
pub struct Stalls {
    settings: StallSettings,
    last: Option<Instant>,
    thread: Option<JoinHandle<()>>,
}

impl Stalls {
    /// No dump has been made yet.
    #[must_use]
    pub fn new(settings: StallSettings) -> Self {
        Self { settings, last: None, thread: None }
    }

    /// Starts a thread that makes a dump, if a worker is stuck and the last dump is long ago. This thread has no time for
    /// it.
    pub fn look(&mut self, subject: &Arc<dyn Subject>) {
        let StallSettings { after, hook } = &self.settings;
        if self.last.is_some_and(|last| wall::since(last) < PAUSE) {
            return;
        }
        let scheduler = subject.scheduler();
        let is_stalled = |worker| {
            let slice = scheduler.running(worker);
            slice.is_some_and(|slice| {
                u128::from(slice.nanos) >= after.as_nanos() && slice.in_place == InPlace::No
            })
        };
        if !(0..scheduler.workers() + scheduler.spares()).any(is_stalled) {
            return;
        }
        self.last = Some(wall::now());
        let (subject, hook) = (Arc::clone(subject), Arc::clone(hook));
        let body = move || contain(|| hook(&make(&*subject)));
        // Without a thread there is no dump; the next stall is another attempt.
        self.thread = thread::Builder::new().name(String::from("colored-dump")).spawn(body).ok();
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
