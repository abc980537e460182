//! [`Threads`]: the threads of the workers, as the system sees them.

mod slow;

use self::slow::Slow;
use crate::kernel;
use crate::thread_time::{ThreadClock, ThreadTime};
use colored_core::{InPlace, RunningSlice, Scheduler};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The threads of the workers, and of the spare ones behind them, as far as they have begun.
pub(crate) struct Threads {
    threads: Box<[OnceLock<Thread>]>,
    /// By worker, the slice that was seen last, if it was slow.
    slow: Mutex<Box<[Option<Slow>]>>,
}

struct Thread {
    /// The system's number; 0 where there is none.
    number: u32,
    clock: ThreadClock,
}

impl Threads {
    pub(crate) fn new(workers: usize) -> Self {
        let threads = (0..workers).map(|_| OnceLock::new()).collect();
        Self { threads, slow: Mutex::new(vec![None; workers].into()) }
    }

    /// This thread is the worker from now on.
    pub(crate) fn note(&self, worker: usize) {
        let thread = Thread { number: kernel::this_thread(), clock: ThreadClock::of_this_thread() };
        let _ = self.threads[worker].set(thread);
    }

    fn of(&self, worker: usize) -> Option<&Thread> {
        self.threads.get(worker)?.get()
    }

    /// The number of the worker's thread, if it is known.
    pub(crate) fn number_of(&self, worker: usize) -> Option<u32> {
        self.of(worker).map(|thread| thread.number).filter(|number| *number != 0)
    }

    /// What the system counts for the thread of a worker; none where the system does not say, and before the thread has
    /// begun. Costs some microseconds.
    pub(crate) fn time_of(&self, worker: usize) -> Option<ThreadTime> {
        self.of(worker)?.clock.read()
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
            && self.time_of(worker).is_some_and(|time| !time.is_runnable)
            && in_slice() == before
    }

    /// How long the thread of a slow slice has had a CPU, and could have had one; none with the first look at the slice.
    pub(crate) fn times_of(
        &self,
        worker: usize,
        slice: &RunningSlice,
        scheduler: &Scheduler,
    ) -> Option<(Duration, Duration)> {
        let now = self.time_of(worker)?;
        // If the slice is over, the thread may be asleep by now.
        if scheduler.running(worker).map(|now| now.serial) != Some(slice.serial) {
            return None;
        }
        let mut slow = self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        let slow = slow.get_mut(worker)?;
        if slow.as_ref().is_none_or(|slow| slow.serial != slice.serial) {
            *slow = Some(Slow::new(slice.serial, slice.nanos, now));
        }
        let slow = slow.as_mut()?;
        slow.look(slice.nanos, now);
        slow.times()
    }
}
