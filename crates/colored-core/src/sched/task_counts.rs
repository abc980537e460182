//! How many tasks there are: figures for others to read.

use super::Scheduler;
use crate::counter::Counter;

/// How many tasks a thread, or several, have spawned, and run to the end.
#[derive(Default)]
pub(super) struct TaskCounts {
    spawned: Counter,
    completed: Counter,
}

impl TaskCounts {
    /// Counts a task that the worker is about to spawn. Only for the worker's own counts.
    #[inline]
    pub(super) fn add_spawned(&self) {
        self.spawned.add(1);
    }

    /// As `add_spawned`, by any other thread, for the counts that these threads share.
    pub(super) fn add_spawned_outside(&self) {
        self.spawned.add_shared(1);
    }

    /// Counts tasks that the worker has run to the end. Only for the worker's own counts.
    #[inline]
    pub(super) fn add_completed(&self, tasks: u32) {
        if tasks > 0 {
            self.completed.add(tasks.into());
        }
    }

    /// As `add_completed`, by any other thread.
    pub(super) fn add_completed_outside(&self, tasks: u32) {
        if tasks > 0 {
            self.completed.add_shared(tasks.into());
        }
    }
}

impl Scheduler {
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
