//! How many tasks there are: figures for others to read.

use crate::kernel::counter::Counter;

/// How many tasks a thread, or several, have spawned, and run to the end.
#[derive(Default)]
pub(crate) struct TaskCounts {
    pub(crate) spawned: Counter,
    pub(crate) completed: Counter,
}

impl TaskCounts {
    /// Counts a task that the worker is about to spawn. Only for the worker's own counts.
    #[inline]
    pub(crate) fn add_spawned(&self) {
        self.spawned.add(1);
    }

    /// As `add_spawned`, by any other thread, for the counts that these threads share.
    pub(crate) fn add_spawned_outside(&self) {
        self.spawned.add_shared(1);
    }

    /// Counts tasks that the worker has run to the end. Only for the worker's own counts.
    #[inline]
    pub(crate) fn add_completed(&self, tasks: u32) {
        if tasks > 0 {
            self.completed.add(tasks.into());
        }
    }

    /// As `add_completed`, by any other thread.
    pub(crate) fn add_completed_outside(&self, tasks: u32) {
        if tasks > 0 {
            self.completed.add_shared(tasks.into());
        }
    }
}
