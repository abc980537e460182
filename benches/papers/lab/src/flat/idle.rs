//! How a worker that has nothing to run waits.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The place where workers wait: for each other, or for sockets too.
pub trait Idle: Send + Sync + 'static {
    /// Waits until the worker is woken, or something else has happened. A worker that is `busy` only looks.
    fn wait(&self, worker: usize, busy: bool);

    /// Adds the events that have happened. Called after each `wait`.
    fn hand_out(&self, worker: usize);

    /// Makes the worker's current or next wait return.
    fn wake(&self, worker: usize);
}

/// A condition variable for each worker.
pub(super) struct Beds(Box<[Bed]>);

#[derive(Default)]
struct Bed {
    woken: Mutex<bool>,
    came: Condvar,
}

impl Bed {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Beds {
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Bed::default()).collect())
    }
}

impl Idle for Beds {
    fn wait(&self, worker: usize, busy: bool) {
        if busy {
            return;
        }
        let bed = &self.0[worker];
        let woken = bed.came.wait_while(bed.lock(), |woken| !*woken);
        *woken.unwrap_or_else(PoisonError::into_inner) = false;
    }

    fn hand_out(&self, _: usize) {}

    fn wake(&self, worker: usize) {
        *self.0[worker].lock() = true;
        self.0[worker].came.notify_one();
    }
}
