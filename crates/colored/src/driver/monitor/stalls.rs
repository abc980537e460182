//! A dump when a poll has held its worker for very long.

use crate::driver::Driver;
use crate::wall;
use colored_core::{InPlace, Scheduler, SchedulerHandle, contain};
use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The least time between two dumps.
const PAUSE: Duration = Duration::from_secs(60);

/// Makes a dump, and hands it to the program.
type Make = Arc<dyn Fn(&Scheduler, &Driver) + Send + Sync>;

/// When to make a dump, and how.
#[derive(Clone)]
pub(crate) struct StallSettings {
    /// How long a poll has held its worker then.
    pub(crate) after: Duration,
    pub(crate) make: Make,
}

impl fmt::Debug for StallSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StallSettings").field("after", &self.after).finish_non_exhaustive()
    }
}

/// The state that the monitor thread keeps.
pub(super) struct Stalls {
    settings: Option<StallSettings>,
    last: Option<Instant>,
    thread: Option<JoinHandle<()>>,
}

impl Stalls {
    pub(super) fn new(settings: Option<StallSettings>) -> Self {
        Self { settings, last: None, thread: None }
    }

    /// Starts a thread that makes a dump, if a worker is stuck and the last dump is long ago. This thread has no time for
    /// it.
    pub(super) fn check(&mut self, handle: &SchedulerHandle, driver: &Arc<Driver>) {
        let Some(StallSettings { after, make }) = &self.settings else { return };
        if self.last.is_some_and(|last| wall::since(last) < PAUSE) {
            return;
        }
        let scheduler = handle.scheduler();
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
        let (handle, driver, make) = (handle.clone(), Arc::clone(driver), Arc::clone(make));
        let body = move || contain(|| make(handle.scheduler(), &driver));
        // Without a thread there is no dump; the next stall is another attempt.
        self.thread = thread::Builder::new().name(String::from("colored-dump")).spawn(body).ok();
    }

    /// Waits for the dump that is being made.
    pub(super) fn join(self) {
        if let Some(thread) = self.thread {
            drop(thread.join());
        }
    }
}
