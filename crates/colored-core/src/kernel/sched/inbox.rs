//! The inbox of a worker: lanes that only this worker may run.

use crate::kernel::lane::ReadyLane;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use std::collections::VecDeque;

/// Lanes that others leave for one worker.
pub(super) struct Inbox {
    lanes: Mutex<VecDeque<ReadyLane>>,
    len: AtomicUsize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { lanes: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    pub(super) fn put(&self, lane: ReadyLane) {
        let mut lanes = self.lanes.lock();
        lanes.push_back(lane);
        // Ordering: the unpark that follows makes the owner look again.
        self.len.store(lanes.len(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn take(&self) -> Option<ReadyLane> {
        if !self.has_some() {
            return None;
        }
        let mut lanes = self.lanes.lock();
        let lane = lanes.pop_front();
        // Ordering: as in `put`; both are under the lock.
        self.len.store(lanes.len(), Ordering::Relaxed);
        lane
    }

    pub(super) fn has_some(&self) -> bool {
        // Ordering: as in `put`.
        self.len.load(Ordering::Relaxed) > 0
    }
}
