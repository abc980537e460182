//! A whole scheduler, with threads that sleep on a condition variable.

use crate::sched::lab::Options;
use crate::sched::{Handle, Park, Scheduler, Step, Worker};
use crate::sync::{Arc, Condvar, Mutex};
use loom::thread::{self, JoinHandle};

/// Something that one thread waits for.
pub(crate) struct Flag {
    set: Mutex<bool>,
    came: Condvar,
}

impl Flag {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self::clear())
    }

    fn clear() -> Self {
        Self { set: Mutex::new(false), came: Condvar::new() }
    }

    pub(crate) fn set(&self) {
        *self.set.lock() = true;
        self.came.notify_one();
    }

    /// Waits, and clears it.
    pub(crate) fn wait(&self) {
        let mut set = self.set.lock();
        while !*set {
            set = self.came.wait(set);
        }
        *set = false;
    }
}

/// Where the workers sleep.
pub(crate) struct Beds(Vec<Flag>);

impl Beds {
    /// Sleeps where that worker does.
    pub(crate) fn wait(&self, worker: usize) {
        self.0[worker].wait();
    }
}

struct Port(Arc<Beds>);

impl Park for Port {
    fn unpark(&self, worker: usize) {
        self.0.0[worker].set();
    }

    fn now(&self) -> u64 {
        0
    }
}

pub(crate) fn pool(workers: usize) -> (Handle, Vec<Worker>, Arc<Beds>) {
    pool_with(workers, Options::default())
}

pub(crate) fn pool_with(workers: usize, options: Options) -> (Handle, Vec<Worker>, Arc<Beds>) {
    let beds = Arc::new(Beds((0..workers).map(|_| Flag::clear()).collect()));
    let port = Box::new(Port(Arc::clone(&beds)));
    let (handle, workers) = Scheduler::with_options(workers, 7, port, options);
    (handle, workers, beds)
}

/// Runs a worker until the scheduler has shut down. It sleeps without a limit: what only a backstop
/// would find is a deadlock.
pub(crate) fn run(mut worker: Worker, beds: &Beds) {
    loop {
        match worker.step() {
            Step::Ran => {}
            Step::Park(_) => beds.wait(worker.index()),
            Step::Stopped => return,
        }
    }
}

/// Runs a worker on a thread of its own.
pub(crate) fn start(worker: Worker, beds: &Arc<Beds>) -> JoinHandle<()> {
    let beds = Arc::clone(beds);
    thread::spawn(move || run(worker, &beds))
}

/// Steps a worker until there is nothing to run.
pub(crate) fn step_until_idle(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}
