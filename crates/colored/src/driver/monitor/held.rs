//! Workers that stay in one poll, and the spare workers that take their place.
//!
//! A worker is *stuck* when it has been in one slice since the last check, or for as long as a slow tick. Then a parked
//! worker takes what is stranded with it. A worker is *held* when its poll is long
//! ([`Builder::long_poll`](crate::Builder::long_poll)), or is inside [`block_in_place`](crate::block_in_place). While no
//! worker is parked, one spare worker for each held one is wanted. A spare's thread starts when it is wanted first, and is
//! asleep for the rest of the time. When the poll returns, one spare less is wanted, and it hands its colors to the others.
//! A spare may be held as well.
//!
//! The program may want more workers than the runtime began with ([`Handle::set_workers`](crate::Handle::set_workers)).
//! These are spare workers too, which are wanted for as long as the program says so.
//!
//! If the system gives no thread, only the spare workers that have one are wanted of the scheduler, and the thread is asked
//! for again after [`RETRY`].

use crate::driver::Driver;
use crate::long_poll::LongPoll;
use crate::thread_time::ThreadTime;
use crate::trace::Trigger;
use crate::wall;
use colored_core::{InPlace, RunningSlice, Scheduler, Worker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After which time a thread is asked for again. A value out of thin air: a try costs some 50 µs.
const RETRY: Duration = Duration::from_millis(100);

/// Starts the thread of a worker, or gives the worker back.
type Start = dyn Fn(Box<Worker>) -> Result<JoinHandle<()>, Box<Worker>> + Send;

/// The spare workers, each of which has a thread from the moment when it is wanted first.
pub(crate) struct SpareThreads {
    /// The last one is the next to start.
    waiting: Vec<Worker>,
    started: Vec<JoinHandle<()>>,
    start: Box<Start>,
    /// When the system gave no thread, if one is still wanted.
    refused: Option<Instant>,
}

impl SpareThreads {
    /// `start` starts the thread of a worker, or gives the worker back if the system gives no thread.
    pub(crate) fn new(
        mut workers: Vec<Worker>,
        start: impl Fn(Box<Worker>) -> Result<JoinHandle<()>, Box<Worker>> + Send + 'static,
    ) -> Self {
        workers.reverse();
        Self { waiting: workers, started: Vec::new(), start: Box::new(start), refused: None }
    }

    /// Starts threads until there are so many, or the system gives none. How many there are.
    fn hire(&mut self, wanted: usize) -> usize {
        let rests = self.refused.is_some_and(|at| wall::since(at) < RETRY);
        while self.started.len() < wanted && !rests {
            self.refused = None;
            let Some(worker) = self.waiting.pop() else { break };
            match (self.start)(Box::new(worker)) {
                Ok(thread) => self.started.push(thread),
                Err(worker) => {
                    self.waiting.push(*worker);
                    self.refused = Some(wall::now());
                    break;
                }
            }
        }
        self.refused = self.refused.filter(|_| self.started.len() < wanted);
        self.started.len()
    }

    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self::new(Vec::new(), Err)
    }
}

/// The state that the monitor thread keeps of each worker and spare worker.
pub(super) struct Held {
    workers: Box<[Last]>,
    spares: SpareThreads,
    /// Spare workers that take the place of held ones, and their largest number.
    helpers: usize,
    max_helpers: usize,
    /// Spare workers that are wanted, and have a thread: the helpers, and as many more as the program wants.
    wanted: usize,
}

/// The last check at a worker.
#[derive(Clone, Copy, Default)]
struct Last {
    /// The slice that it was in.
    slice: Option<u64>,
    is_reported: bool,
    /// It has been seen inside a call of the runtime's own: its length is no matter of the program's.
    is_own: bool,
    slow: Option<Slow>,
}

/// A slice that was seen to be slow.
#[derive(Clone, Copy)]
struct Slow {
    /// The age of the slice, in nanoseconds, at the first check and at the last one.
    first: u64,
    last: u64,
    /// The time of the thread at the last check.
    time: ThreadTime,
    /// Since the first check: with a CPU, and without one though the thread could have run.
    cpu: Duration,
    delayed: Duration,
}

impl Slow {
    fn new(age: u64, time: ThreadTime) -> Self {
        Self { first: age, last: age, time, cpu: Duration::ZERO, delayed: Duration::ZERO }
    }

    /// The next check. The system counts a wait for a CPU when it is over: so what it has not counted is such a wait if
    /// the thread can run now, and otherwise the thread was blocked.
    fn check(&mut self, age: u64, now: ThreadTime) {
        let passed = Duration::from_nanos(age.saturating_sub(self.last));
        let counted = now.since(self.time);
        let cpu = counted.cpu.min(passed);
        let rest = passed - cpu;
        self.cpu += cpu;
        self.delayed += if now.is_runnable { rest } else { counted.delayed.min(rest) };
        (self.last, self.time) = (age, now);
    }

    /// The times of the whole slice, as if what was not seen were like what was seen; none if that is less than half.
    fn times(&self) -> Option<(Duration, Duration)> {
        let seen = self.last.checked_sub(self.first).filter(|seen| 2 * seen >= self.last)?;
        let factor = self.last as f64 / seen as f64;
        Some((self.cpu.mul_f64(factor), self.delayed.mul_f64(factor)))
    }
}

/// A slice of this age in nanoseconds is stuck.
const STUCK: u64 = super::SLOW.as_nanos() as u64;

/// A slice of this age in nanoseconds may become a long poll: from then on the watch reads the time of its thread.
const SLOW: u64 = 1_000_000;

impl Last {
    /// How long the thread of the slice has had a CPU, and could have had one; none with the first check at a slow slice.
    fn times_of(
        &mut self,
        slice: &RunningSlice,
        now: impl FnOnce() -> Option<ThreadTime>,
    ) -> Option<(Duration, Duration)> {
        if slice.nanos < SLOW {
            return None;
        }
        let now = now()?;
        let slow = self.slow.get_or_insert_with(|| Slow::new(slice.nanos, now));
        slow.check(slice.nanos, now);
        slow.times()
    }
}

impl Held {
    /// For so many workers and spare ones.
    pub(super) fn new(workers: usize, spares: SpareThreads, max_helpers: usize) -> Self {
        let workers = vec![Last::default(); workers].into();
        Self { workers, spares, helpers: 0, max_helpers, wanted: 0 }
    }

    /// Looks at all workers, and calls other threads to help. True if some worker is stuck.
    pub(super) fn check(
        &mut self,
        scheduler: &Scheduler,
        driver: &Driver,
        more_workers: usize,
    ) -> bool {
        let long_polls = &driver.long_polls;
        let mut held = 0;
        let mut any_stuck = false;
        for (worker, last) in self.workers.iter_mut().enumerate() {
            let slice = scheduler.running(worker);
            let is_same = slice.is_some() && last.slice == slice.map(|slice| slice.serial);
            any_stuck |= is_same || slice.is_some_and(|slice| slice.nanos >= STUCK);
            last.slice = slice.map(|slice| slice.serial);
            last.is_reported &= is_same;
            last.is_own &= is_same;
            last.slow = last.slow.filter(|_| is_same);
            let Some(slice) = slice else { continue };
            let times = last.times_of(&slice, || {
                let time = driver.threads.time(worker);
                // If the slice is over, the thread may be asleep by now.
                let is_over = scheduler.running(worker).map(|now| now.serial) != Some(slice.serial);
                time.filter(|_| !is_over)
            });
            let is_long = u128::from(slice.nanos) >= long_polls.settings.after.as_nanos();
            held += usize::from(is_long || slice.in_place == InPlace::Inside);
            last.is_own |= slice.in_place == InPlace::Own;
            if is_long && slice.in_place == InPlace::No && !last.is_own {
                if !last.is_reported {
                    scheduler.record_long_poll(&slice);
                    driver.freeze(Trigger::LongPoll, scheduler);
                }
                long_polls.report(LongPoll::new(worker, &slice, times), !last.is_reported);
                last.is_reported = true;
            }
        }
        if any_stuck {
            scheduler.rescue();
        }
        // A parked worker does as well as a spare one.
        if held < self.helpers || scheduler.parked() == 0 {
            let helpers = held.min(self.max_helpers);
            if helpers != self.helpers {
                long_polls.set_spares(helpers, helpers.saturating_sub(self.helpers));
                self.helpers = helpers;
            }
        }
        let started = self.spares.hire(more_workers + self.helpers);
        driver.size.note_missing(more_workers.saturating_sub(started));
        self.want(scheduler, started.min(more_workers + self.helpers));
        any_stuck
    }

    fn want(&mut self, scheduler: &Scheduler, wanted: usize) {
        if wanted != self.wanted {
            self.wanted = wanted;
            scheduler.want_spares(wanted);
        }
    }

    /// In which time the next check has to be, because a thread is missing.
    pub(super) fn retries_in(&self) -> Option<Duration> {
        self.spares.refused.map(|_| RETRY)
    }

    /// Waits for the ends of all spare threads, once the scheduler has shut down.
    pub(super) fn join(self) {
        self.spares.started.into_iter().for_each(|thread| drop(thread.join()));
    }
}

#[cfg(test)]
mod tests {
    use super::Slow;
    use crate::thread_time::ThreadTime;
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    fn time(cpu: u64, delayed: u64, is_runnable: bool) -> ThreadTime {
        let of = Duration::from_millis;
        ThreadTime { cpu: of(cpu), delayed: of(delayed), is_runnable }
    }

    /// The times of a slice of 20 ms in milliseconds, which was seen at 2, 10 and 20 ms.
    fn times(checks: [ThreadTime; 3]) -> (u64, u64) {
        let mut slow = Slow::new(2 * MS, checks[0]);
        slow.check(10 * MS, checks[1]);
        slow.check(20 * MS, checks[2]);
        let (cpu, delayed) = slow.times().unwrap();
        ((cpu.as_micros() as u64 + 500) / 1000, (delayed.as_micros() as u64 + 500) / 1000)
    }

    #[test]
    fn a_thread_computes_or_waits_for_a_cpu_or_is_blocked() {
        assert_eq!(times([time(5, 0, true), time(13, 0, true), time(23, 0, true)]), (20, 0));
        assert_eq!(times([time(5, 0, false), time(5, 0, false), time(5, 0, false)]), (0, 0));
        assert_eq!(times([time(5, 0, true), time(9, 4, true), time(14, 9, true)]), (10, 10));
        // The wait has not ended, and is not counted yet.
        assert_eq!(times([time(5, 0, true), time(5, 0, true), time(5, 0, true)]), (0, 20));
        // Part of it is over when it is blocked.
        assert_eq!(times([time(5, 0, true), time(5, 9, false), time(5, 9, false)]), (0, 9));
        // The system counts by ticks.
        assert_eq!(times([time(5, 0, true), time(15, 0, true), time(25, 0, true)]), (20, 0));
    }

    #[test]
    fn a_slice_that_was_seen_late_is_of_an_unknown_kind() {
        let now = time(5, 0, false);
        let mut slow = Slow::new(11 * MS, now);
        assert_eq!(slow.times(), None);
        slow.check(20 * MS, now);
        assert_eq!(slow.times(), None);
        slow.check(22 * MS, now);
        assert_eq!(slow.times(), Some((Duration::ZERO, Duration::ZERO)));
    }
}
