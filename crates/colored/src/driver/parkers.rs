//! [`Parkers`]: where the workers sleep, and who has events in hand.

use super::park::Parker;
use super::reactor::Shard;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The parkers of the workers, and of the spare ones behind them.
pub(crate) struct Parkers {
    parkers: Box<[Parker]>,
    /// How often a worker that slept was woken.
    wakes: AtomicU64,
    /// The reactor thread has taken events or timers, and has not woken all their tasks yet.
    reactor_events: AtomicBool,
}

impl Parkers {
    pub(super) fn new(workers: usize) -> Self {
        let parkers = (0..workers).map(|_| Parker::default()).collect();
        Self { parkers, wakes: AtomicU64::new(0), reactor_events: AtomicBool::new(false) }
    }

    pub(super) fn of_worker(&self, worker: usize) -> &Parker {
        &self.parkers[worker]
    }

    pub(crate) fn len(&self) -> usize {
        self.parkers.len()
    }

    /// Makes the worker's current or next park return at once. `shard` is the one that it polls.
    pub(super) fn unpark(&self, worker: usize, shard: &Shard) {
        if self.parkers[worker].unpark(shard) {
            // Ordering: a figure.
            self.wakes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often a worker that slept was woken by another thread.
    pub(crate) fn wakes(&self) -> u64 {
        // Ordering: a figure.
        self.wakes.load(Ordering::Relaxed)
    }

    /// Notes that the reactor thread is about to take events and timers.
    pub(crate) fn begin_reactor_events(&self) {
        // Ordering: as for a worker: the lock of a turn, or of a wheel, hands it over.
        self.reactor_events.store(true, Ordering::Relaxed);
    }

    /// Notes that the reactor thread has woken the tasks of all that it took.
    pub(crate) fn finish_reactor_events(&self) {
        // Ordering: Release, so that a thread that sees this finds the tasks in their queues.
        self.reactor_events.store(false, Ordering::Release);
    }

    /// Whether the reactor thread has events or timers in hand.
    pub(super) fn reactor_has_events(&self) -> bool {
        // Ordering: pairs with `finish_reactor_events`.
        self.reactor_events.load(Ordering::Acquire)
    }

    /// Whether a worker other than this one has events or timers in hand.
    pub(super) fn others_have_events(&self, worker: usize) -> bool {
        let mut others = self.parkers.iter().enumerate().filter(|(other, _)| *other != worker);
        others.any(|(_, parker)| parker.has_events())
    }
}
