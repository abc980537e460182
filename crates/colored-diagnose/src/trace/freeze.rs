//! [`Freezer`]: keeps the records of a moment until somebody takes them.

use super::{Snapshot, ThreadTrace, Trigger};
use crate::wall;
use colored_core::trace::Copied;
use colored_core::{Level, Scheduler};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time between two copies.
const REST: Duration = Duration::from_secs(1);

/// Copies the records of a runtime, and keeps one copy.
pub(crate) struct Freezer {
    /// What the names of the threads begin with.
    prefix: String,
    triggers: Vec<Trigger>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Option<Arc<Snapshot>>,
    last: Option<Instant>,
}

impl Freezer {
    pub(crate) fn new(prefix: String, triggers: Vec<Trigger>) -> Self {
        Self { prefix, triggers, state: Mutex::default() }
    }

    /// The records that the runtime has at the moment.
    pub(crate) fn snapshot(&self, scheduler: &Scheduler) -> Snapshot {
        let workers = scheduler.workers();
        let name = |worker: usize| {
            let kind = if worker < workers { 'w' } else { 's' };
            format!("{}-{kind}{worker}", self.prefix)
        };
        let rings = 0..workers + scheduler.spares();
        let threads = rings.map(|worker| thread(name(worker), scheduler.ring(worker).copy()));
        let outside =
            || thread(format!("{} outside", self.prefix), scheduler.ring_outside().copy());
        // Evaluated in this order: a spawn from outside is before the polls of its task.
        let threads = threads.chain(std::iter::once_with(outside)).collect();
        Snapshot { workers, ..Snapshot::new(threads, scheduler.now(), wall::since_epoch()) }
    }

    /// Copies the records and keeps them, if that is wanted, nothing is kept, and the last copy is not too young. Returns
    /// the copy.
    pub(crate) fn freeze(&self, trigger: Trigger, scheduler: &Scheduler) -> Option<Arc<Snapshot>> {
        if scheduler.level() == Level::Off || !self.triggers.contains(&trigger) {
            return None;
        }
        // A thread that copies at this moment keeps what this one would.
        let mut state = self.state.try_lock().ok()?;
        let rests = |last: Instant| wall::since(last) < REST;
        if state.kept.is_some() || state.last.is_some_and(rests) {
            return None;
        }
        let mut snapshot = self.snapshot(scheduler);
        snapshot.trigger = Some(trigger);
        let snapshot = Arc::new(snapshot);
        *state = State { kept: Some(Arc::clone(&snapshot)), last: Some(wall::now()) };
        Some(snapshot)
    }

    /// Takes the copy that is kept.
    pub(crate) fn take(&self) -> Option<Snapshot> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.kept.take().map(Arc::unwrap_or_clone)
    }
}

impl fmt::Debug for Freezer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Freezer").field("triggers", &self.triggers).finish_non_exhaustive()
    }
}

fn thread(name: String, copied: Copied) -> ThreadTrace {
    let Copied { records, overwritten, dropped } = copied;
    ThreadTrace { name, records, overwritten, dropped }
}
