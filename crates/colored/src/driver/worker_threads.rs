//! [`WorkerThreads`]: what the system knows about the threads of the workers.

use crate::thread_time::{ThreadClock, ThreadTime};
use colored_core::{InPlace, Scheduler};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The threads of the workers, and of the spare ones behind them, as far as they have begun.
pub(crate) struct WorkerThreads {
    clocks: Box<[OnceLock<ThreadClock>]>,
    /// The numbers of the threads; 0 before a worker has begun.
    numbers: Box<[AtomicU32]>,
}

impl WorkerThreads {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            clocks: (0..workers).map(|_| OnceLock::new()).collect(),
            numbers: (0..workers).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Notes that this thread, which has that number, is the worker. To be called once for each worker.
    pub(crate) fn begin(&self, worker: usize, number: u32) {
        // Ordering: only texts show it.
        self.numbers[worker].store(number, Ordering::Relaxed);
        let _ = self.clocks[worker].set(ThreadClock::of_this_thread());
    }

    /// The number of the worker's thread, if it is known.
    pub(crate) fn number(&self, worker: usize) -> Option<u32> {
        // Ordering: as in `begin`.
        let number = self.numbers.get(worker)?.load(Ordering::Relaxed);
        (number != 0).then_some(number)
    }

    /// What the system counts for the thread of a worker; none where the system does not say, and before the thread has
    /// begun. Costs some microseconds.
    pub(crate) fn time(&self, worker: usize) -> Option<ThreadTime> {
        self.clocks.get(worker)?.get()?.read()
    }

    /// Whether the worker is inside a poll that has not announced it, and its thread is blocked, but not in a call of the
    /// runtime's own.
    pub(crate) fn is_blocked(&self, worker: usize, scheduler: &Scheduler) -> bool {
        let in_slice = || {
            let announced = [InPlace::Inside, InPlace::Own];
            let slice =
                scheduler.running(worker).filter(|slice| !announced.contains(&slice.in_place));
            slice.map(|slice| slice.serial)
        };
        let before = in_slice();
        before.is_some()
            && self.time(worker).is_some_and(|time| !time.is_runnable)
            && in_slice() == before
    }
}
