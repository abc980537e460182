//! Each worker has a task that spawns tasks of fresh colors.

use crate::machine::{Load, done, work};
use colored_core::{SchedulerHandle, yield_now};

/// Tasks between two yields of a task that spawns.
const BATCH: u64 = 32;

pub(crate) struct Storm {
    pub(crate) workers: usize,
    pub(crate) ops: u64,
    /// Nanoseconds of a task.
    pub(crate) nanos: u64,
}

impl Load for Storm {
    fn begin(&self, handle: &SchedulerHandle) {
        let share = self.ops / self.workers as u64;
        for _ in 0..self.workers {
            let (spawner, nanos) = (handle.clone(), self.nanos);
            drop(handle.spawn_unique(async move {
                let mut left = share;
                while left > 0 {
                    for _ in 0..BATCH.min(left) {
                        drop(spawner.spawn_unique(async move {
                            work(nanos);
                            done();
                        }));
                    }
                    left -= BATCH.min(left);
                    yield_now().await;
                }
            }));
        }
    }
}
