//! A batch of many events: the lanes that it makes runnable go to the workers that ran them last
//! ([`home_queue`](crate::sched::home_queue)).

use super::Local;
use crate::lane::ReadyLane;
use std::cell::RefCell;
use std::collections::VecDeque;

/// Events in a batch that goes home. `benches/ratio.rs`, HTTP, CPU a request over that without home queues,
/// where most batches are of 16 to 31 events: with 512 connections 0.91 to 0.97 (4: 0.92, 8: 0.99,
/// 32: 0.95, 64: 1.00), with 64 connections 0.92 (4: 0.97, 8: 0.95, 32: 0.98).
const MANY: usize = 16;

/// The lanes that a worker has collected for each other worker during a batch.
pub(super) struct Outgoing(RefCell<Box<[VecDeque<ReadyLane>]>>);

impl Outgoing {
    pub(super) fn new(workers: usize) -> Self {
        Self(RefCell::new((0..workers).map(|_| VecDeque::new()).collect()))
    }
}

impl Local {
    /// Whether the lanes of a batch with this number of events go home. A policy may have named another worker than the home.
    pub(super) fn goes_home(&self, events: usize) -> bool {
        let scheduler = self.scheduler();
        events >= MANY && scheduler.remotes.len() > 1 && scheduler.policy.is_none()
    }

    /// Takes a lane that was made runnable during a batch that goes home.
    pub(super) fn collect(&self, lane: ReadyLane) {
        match lane.lane().home() {
            Some(home) if home != self.index() => {
                self.outgoing.0.borrow_mut()[home].push_back(lane);
            }
            _ => self.deque.push(lane),
        }
    }

    /// Takes a lane that is to run behind all lanes that are runnable here.
    pub(super) fn put_behind(&self, lane: ReadyLane) {
        let left = self.remote().home_queue.put_one(lane);
        self.offer_beside(left);
    }

    /// Ends a batch: leaves for every worker the lanes that were collected for it.
    pub(super) fn post(&self) {
        let scheduler = self.scheduler();
        let mut waits = self.deque.len() > 1;
        for (worker, lanes) in self.outgoing.0.borrow_mut().iter_mut().enumerate() {
            if !lanes.is_empty() {
                scheduler.remotes[worker].home_queue.put(lanes);
                waits |= !scheduler.call(worker);
            }
        }
        if waits {
            scheduler.notify();
        }
    }
}
