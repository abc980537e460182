//! The machine that the loads run on: this one, or one of many virtual cores.

#[cfg(not(colored_watched))]
mod real;
#[cfg(colored_watched)]
mod simulated;

#[cfg(not(colored_watched))]
use self::real::unpark;
#[cfg(not(colored_watched))]
pub(crate) use self::real::{done, now, run, sleep, wake_at, work};
#[cfg(colored_watched)]
use self::simulated::unpark;
#[cfg(colored_watched)]
pub(crate) use self::simulated::{done, now, run, sleep, wake_at, work};

use crate::costs::Costs;
use colored_core::{Park, SchedulerHandle, Worker};
use std::collections::BTreeMap;
use std::task::Waker;

/// The scheduler's view of the machine.
struct Port;

impl Park for Port {
    fn unpark(&self, worker: usize) {
        unpark(worker);
    }

    fn now(&self) -> u64 {
        now()
    }
}

/// A run: so many workers and operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) workers: usize,
    pub(crate) ops: u64,
    #[cfg_attr(not(colored_watched), allow(dead_code, reason = "a real machine has its own"))]
    pub(crate) costs: Costs,
}

/// A load.
pub(crate) trait Load: Sync {
    /// Begins the load, on a thread that is no worker.
    fn begin(&self, handle: &SchedulerHandle);

    /// A worker has run a slice. Appends the wakers to call.
    fn poll_events(&self, _worker: usize, _wakers: &mut Vec<Waker>) {}

    /// A worker has nothing to run: it sleeps. Appends the wakers to call.
    fn park(&self, worker: usize, limit: Option<u64>, _wakers: &mut Vec<Waker>) {
        sleep(worker, limit);
    }
}

/// Where time went, in picoseconds of all cores.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// Lines that came from another core.
    pub(crate) moves: u64,
    /// The time of these moves.
    pub(crate) moving: u64,
    /// The time in which such a line was on its way to other cores first.
    pub(crate) queued: u64,
    /// Waiting for a lock.
    pub(crate) locked: u64,
}

impl Spent {
    pub(crate) fn all(&self) -> u64 {
        self.moving + self.queued + self.locked
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Nanoseconds from two fifths of the operations to nine tenths of them, over their number.
    pub(crate) nanos: f64,
    /// Where a simulated machine waited.
    pub(crate) places: BTreeMap<&'static str, Spent>,
    /// Picoseconds of all cores.
    pub(crate) total: u64,
    /// Of these, asleep.
    pub(crate) asleep: u64,
}

/// The operations between which the time counts.
fn window(ops: u64) -> (u64, u64) {
    (ops * 2 / 5, ops - ops / 10)
}

/// A busy worker looks for events so often: as the runtime does.
const POLL_INTERVAL_NANOS: u64 = 100_000;

/// The life of a worker, as in the runtime.
fn live(mut worker: Worker, load: &dyn Load) {
    use colored_core::Step;
    let index = worker.index();
    let (mut wakers, mut last_poll) = (Vec::new(), 0);
    loop {
        match worker.step() {
            Step::Ran if worker.now() - last_poll < POLL_INTERVAL_NANOS => continue,
            Step::Ran => {
                last_poll = worker.now();
                load.poll_events(index, &mut wakers);
            }
            Step::Park(limit) => {
                load.park(index, limit, &mut wakers);
                last_poll = worker.now();
            }
            Step::Stopped => return,
        }
        if !wakers.is_empty() {
            worker.batch(wakers.len(), || wakers.drain(..).for_each(Waker::wake));
        }
    }
}
