//! A runtime on real threads: each worker sleeps on a condition variable.

use crate::world::lock;
use colored_core::{Park, Step, Worker};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// The beds of the workers of one runtime.
pub(crate) struct Beds {
    beds: Vec<(Mutex<bool>, Condvar)>,
    start: Instant,
}

pub(crate) struct Port(pub(crate) Arc<Beds>);

impl Park for Port {
    fn unpark(&self, worker: usize) {
        let (token, came) = &self.0.beds[worker];
        *lock(token) = true;
        came.notify_one();
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_nanos()).expect("a short program")
    }
}

impl Beds {
    pub(crate) fn new(workers: usize) -> Arc<Self> {
        let beds = (0..workers).map(|_| (Mutex::new(false), Condvar::new())).collect();
        Arc::new(Self { beds, start: Instant::now() })
    }

    fn sleep(&self, worker: usize, limit: Option<u64>) {
        let (token, came) = &self.beds[worker];
        let mut token = lock(token);
        while !*token {
            token = match limit {
                Some(nanos) => {
                    let limit = Duration::from_nanos(nanos);
                    let (mut token, _) =
                        came.wait_timeout(token, limit).expect("no panic in there");
                    *token = true;
                    token
                }
                None => came.wait(token).expect("no panic in there"),
            };
        }
        *token = false;
    }

    /// Runs a worker until the runtime has stopped.
    pub(crate) fn run(&self, worker: &mut Worker) {
        loop {
            match worker.step() {
                Step::Ran => {}
                Step::Park(limit) => self.sleep(worker.index(), limit),
                Step::Stopped => return,
            }
        }
    }
}
