//! How many tasks there are: figures for others to read.

use super::{Scheduler, local};
use crate::counter::Counter;

/// How many tasks a thread, or several, have spawned, and run to the end.
#[derive(Default)]
pub(super) struct TaskCounts {
    spawned: Counter,
    completed: Counter,
}

impl TaskCounts {
    /// To be called by a worker, for its own counts: it has run so many tasks to the end.
    #[inline]
    pub(super) fn have_completed(&self, tasks: u32) {
        if tasks > 0 {
            self.completed.add(tasks.into());
        }
    }

    /// To be called by any other thread, for the counts that these threads share.
    pub(super) fn have_completed_outside(&self, tasks: u32) {
        if tasks > 0 {
            self.completed.add_shared(tasks.into());
        }
    }
}

impl Scheduler {
    /// A task is about to be spawned.
    #[inline]
    pub(super) fn counts_spawn(&self) {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => {
                local.remote().tasks.spawned.add(1);
            }
            _ => self.tasks_outside.spawned.add_shared(1),
        });
    }

    /// How many tasks have been spawned and have not completed. The sum of counters that are not all of one instant.
    #[must_use]
    pub fn live_tasks(&self) -> u64 {
        let all = || self.remotes.iter().map(|remote| &remote.tasks).chain([&self.tasks_outside]);
        // What has completed is counted first, so that no task is missing from the second sum.
        let completed: u64 = all().map(|of| of.completed.get()).sum();
        let spawned: u64 = all().map(|of| of.spawned.get()).sum();
        spawned.saturating_sub(completed)
    }
}
