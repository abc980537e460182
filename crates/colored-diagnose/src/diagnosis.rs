//! [`Diagnosis`]: the state that is kept about a runtime, and the events that the runtime tells.

use crate::levels::Levels;
use crate::long_polls::LongPolls;
use crate::partitions::{PartitionSource, Sources};
use crate::threads::Threads;
use crate::trace::{Freezer, Snapshot, Trigger};
use colored_core::{LongPoll, RunningSlice, Scheduler};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use crate::long_polls::Hook as LongPollHook;

/// How a runtime is diagnosed.
pub struct Settings {
    /// The number of workers, with the spare ones.
    pub workers: usize,
    /// What the names of the threads begin with.
    pub prefix: String,
    /// What hears of each long poll. Without it, the standard error hears of one that takes a second.
    pub on_long_poll: Option<LongPollHook>,
    /// The events at which the records are kept.
    pub triggers: Vec<Trigger>,
    /// The file for records that are kept.
    pub file: Option<PathBuf>,
    /// Whether the file gets the records at the end of the runtime.
    pub writes_at_end: bool,
}

/// What is kept about a runtime, from before its threads begin to its end.
pub struct Diagnosis {
    pub(crate) threads: Threads,
    pub(crate) levels: Levels,
    pub(crate) long_polls: LongPolls,
    pub(crate) partitions: Sources,
    freezer: Freezer,
    /// Where a copy of the records is to be written.
    file: Option<PathBuf>,
    writes_at_end: bool,
}

impl Diagnosis {
    /// Of a runtime that is about to be made.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings { workers, prefix, on_long_poll, triggers, file, writes_at_end } = settings;
        Self {
            threads: Threads::new(workers),
            levels: Levels::default(),
            long_polls: LongPolls::new(on_long_poll),
            partitions: Sources::default(),
            freezer: Freezer::new(prefix, triggers),
            file,
            writes_at_end,
        }
    }

    /// This thread is the worker from now on.
    pub fn note_worker(&self, worker: usize) {
        self.threads.note(worker);
    }

    /// The reactor thread sees that a slice is slow. Returns how long its thread has had a CPU, and could have had one;
    /// none with the first look, and where the system does not tell.
    pub fn measure(
        &self,
        worker: usize,
        slice: &RunningSlice,
        scheduler: &Scheduler,
    ) -> Option<(Duration, Duration)> {
        self.threads.times_of(worker, slice, scheduler)
    }

    /// The reactor thread has found a poll to be long, for the first time if `is_new`.
    pub fn report_long_poll(&self, poll: &LongPoll, is_new: bool) {
        self.long_polls.report(poll, is_new);
    }

    /// Reports, and the socket, tell of the partitions of this source until it is dropped.
    pub fn register_partitions(&self, source: &Arc<dyn PartitionSource>) {
        self.partitions.add(source);
    }

    /// The records of all threads at the moment.
    #[must_use]
    pub fn trace(&self, scheduler: &Scheduler) -> Snapshot {
        self.freezer.snapshot(scheduler)
    }

    /// An event has happened: keeps the records, if the program wants that. Returns what it has kept.
    pub fn freeze(&self, trigger: Trigger, scheduler: &Scheduler) -> Option<Arc<Snapshot>> {
        self.freezer.freeze(trigger, scheduler)
    }

    /// Takes the records that are kept.
    #[must_use]
    pub fn take_frozen(&self) -> Option<Snapshot> {
        self.freezer.take()
    }

    /// Where records that are kept are to be written.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        self.file.clone()
    }

    /// Where the records at the end are to be written.
    #[must_use]
    pub fn file_at_end(&self) -> Option<PathBuf> {
        self.file().filter(|_| self.writes_at_end)
    }
}

impl fmt::Debug for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Diagnosis").field("freezer", &self.freezer).finish_non_exhaustive()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("workers", &self.workers).finish_non_exhaustive()
    }
}
