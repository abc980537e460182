//! One thread that is no worker spawns tasks of fresh colors.

use crate::machine::{Load, done, sleep, work};
use colored_core::SchedulerHandle;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Outside {
    pub(crate) workers: usize,
    pub(crate) ops: u64,
    /// Nanoseconds of a task.
    pub(crate) nanos: u64,
}

impl Load for Outside {
    fn begin(&self, handle: &SchedulerHandle) {
        let ended = Arc::new(AtomicU64::new(0));
        for spawned in 0..self.ops {
            // Ordering: a figure.
            while spawned > ended.load(Ordering::Relaxed) + 32 * self.workers as u64 {
                sleep(self.workers, Some(2_000));
            }
            let (ended, nanos) = (Arc::clone(&ended), self.nanos);
            drop(handle.spawn_unique(async move {
                work(nanos);
                // Ordering: a figure.
                ended.fetch_add(1, Ordering::Relaxed);
                done();
            }));
        }
    }
}
