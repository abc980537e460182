//! Workers that stay in one poll, and the spare workers that take their place.
//!
//! A worker is *stuck* when it has been in one slice since the last look. Then a parked worker takes what is stranded
//! with it. A worker that has been stuck for [`HAND_OFF`] is *held*: its poll blocks, or computes. While no worker is
//! parked, one spare worker for each held one is wanted. A spare starts when it is wanted first, and is asleep for the
//! rest of the time. When the poll returns, one spare less is wanted, and it hands its colors to the others.

use colored_core::{Scheduler, Worker};
use std::time::{Duration, Instant};

/// How long a worker is stuck before a spare one takes its place.
const HAND_OFF: Duration = Duration::from_millis(5);

/// The spare workers, each of which has a thread from the moment when it is wanted first.
pub(crate) struct SpareThreads {
    /// The last one is the next to start.
    waiting: Vec<Worker>,
    start: Box<dyn Fn(Worker) -> Option<Worker> + Send>,
}

impl SpareThreads {
    /// `start` starts the thread of a worker, or gives the worker back if the system gives no thread.
    pub(crate) fn new(
        mut workers: Vec<Worker>,
        start: impl Fn(Worker) -> Option<Worker> + Send + 'static,
    ) -> Self {
        workers.reverse();
        Self { waiting: workers, start: Box::new(start) }
    }

    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self::new(Vec::new(), |_| None)
    }
}

/// The state that the reactor thread keeps of each worker.
pub(super) struct Held {
    workers: Box<[Beat]>,
    spares: SpareThreads,
    started: usize,
    wanted: usize,
}

/// The last look at a worker.
#[derive(Clone, Copy, Default)]
struct Beat {
    beat: u64,
    stuck_since: Option<Instant>,
}

impl Held {
    pub(super) fn new(workers: usize, spares: SpareThreads) -> Self {
        Self { workers: vec![Beat::default(); workers].into(), spares, started: 0, wanted: 0 }
    }

    /// Looks at all workers, and calls other threads to help. True if some worker is stuck.
    pub(super) fn look(&mut self, scheduler: &Scheduler) -> bool {
        let now = Instant::now();
        let mut held = 0;
        let mut any_stuck = false;
        for (worker, last) in self.workers.iter_mut().enumerate() {
            let (stuck, beat) = scheduler.stuck_since(worker, last.beat);
            last.beat = beat;
            let since = stuck.then(|| last.stuck_since.unwrap_or(now));
            last.stuck_since = since;
            any_stuck |= stuck;
            held += usize::from(since.is_some_and(|since| now - since >= HAND_OFF));
        }
        if any_stuck {
            scheduler.rescue();
        }
        // A parked worker does as well as a spare one.
        if held < self.wanted || scheduler.parked() == 0 {
            self.want(scheduler, held.min(scheduler.spares()));
        }
        any_stuck
    }

    fn want(&mut self, scheduler: &Scheduler, wanted: usize) {
        if wanted == self.wanted {
            return;
        }
        self.wanted = wanted;
        scheduler.want_spares(wanted);
        while self.started < wanted {
            let Some(worker) = self.spares.waiting.pop() else { return };
            if let Some(worker) = (self.spares.start)(worker) {
                // The system gives no thread. The next held worker is another attempt.
                self.spares.waiting.push(worker);
                return;
            }
            self.started += 1;
        }
    }
}
