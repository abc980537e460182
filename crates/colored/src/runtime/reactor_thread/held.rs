//! Workers that stay in one poll, and the spare workers that take their place.
//!
//! A worker is *stuck* when it has been in one slice since the last check, or for as long as a slow tick. Then a parked
//! worker takes what is stranded with it. A worker is *held* when its poll is long
//! ([`Builder::long_poll`](crate::Builder::long_poll)), or is inside [`block_in_place`](crate::block_in_place). While no
//! worker is parked, one spare worker for each held one is wanted. A spare's thread starts when it is wanted first, and is
//! asleep for the rest of the time. When the poll returns, one spare less is wanted, and it hands its colors to the others.
//! A spare may be held as well.
//!
//! If the system gives no thread, only the spare workers that have one are wanted of the scheduler, and the thread is asked
//! for again after [`RETRY`].

use crate::long_poll;
use crate::services::Services;
use crate::wall;
use colored_core::{InPlace, Scheduler, Worker};
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

/// The state that the reactor thread keeps of each worker and spare worker.
pub(super) struct Held {
    workers: Box<[Last]>,
    spares: SpareThreads,
    /// Spare workers that take the place of held ones, and their largest number.
    helpers: usize,
    max_helpers: usize,
    /// Helpers that have a thread.
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
}

/// A slice of this age in nanoseconds is stuck.
const STUCK: u64 = super::SLOW.as_nanos() as u64;

/// A slice of this age in nanoseconds may become a long poll.
const SLOW: u64 = 1_000_000;

impl Held {
    /// For so many workers and spare ones.
    pub(super) fn new(workers: usize, spares: SpareThreads, max_helpers: usize) -> Self {
        let workers = vec![Last::default(); workers].into();
        Self { workers, spares, helpers: 0, max_helpers, wanted: 0 }
    }

    /// Looks at all workers, and calls other threads to help. True if some worker is stuck.
    pub(super) fn check(&mut self, scheduler: &Scheduler, services: &Services) -> bool {
        let long_polls = &services.long_polls;
        let mut held = 0;
        let mut any_stuck = false;
        for (worker, last) in self.workers.iter_mut().enumerate() {
            let slice = scheduler.running(worker);
            let is_same = slice.is_some() && last.slice == slice.map(|slice| slice.serial);
            any_stuck |= is_same || slice.is_some_and(|slice| slice.nanos >= STUCK);
            last.slice = slice.map(|slice| slice.serial);
            last.is_reported &= is_same;
            last.is_own &= is_same;
            let Some(slice) = slice else { continue };
            let is_slow = slice.nanos >= SLOW;
            let measure = || services.observer.on_slow_slice(worker, &slice, scheduler);
            let times = is_slow.then(measure).flatten();
            let is_long = u128::from(slice.nanos) >= long_polls.after.as_nanos();
            held += usize::from(is_long || slice.in_place == InPlace::Inside);
            last.is_own |= slice.in_place == InPlace::Own;
            if is_long && slice.in_place == InPlace::No && !last.is_own {
                if !last.is_reported {
                    scheduler.record_long_poll(&slice);
                }
                let poll = long_poll::of_slice(worker, &slice, times);
                services.observer.on_long_poll(&poll, !last.is_reported, scheduler, services);
                long_polls.count(poll, !last.is_reported);
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
        let started = self.spares.hire(self.helpers);
        self.want(scheduler, started.min(self.helpers));
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
