//! Lanes without a color, kept for the next fresh one.
//!
//! Every task of a fresh color makes and retires a lane, often on different workers. A lane owns the scheduler, so making
//! a new one would bounce that reference count between the cores. A worker keeps up to two batches of spare lanes by
//! itself, and gives one to all workers, or takes one from them, where it has too many or none.

use super::Scheduler;
use crate::color::Color;
use crate::lane::Lane;
use std::cell::RefCell;

/// Lanes in a batch.
const BATCH: usize = 64;

/// Batches that the workers share: 2 MiB, the limit of `memory/cache.rs` for blocks of one size. With a fifth of it,
/// most of a burst of 10,000 fresh colors allocates new lanes.
const BATCHES: usize = (2 << 20) / (BATCH * size_of::<Lane>());

/// A lane keeps its address: it is boxed, and only the box moves.
pub(super) type Batch = Vec<Box<Lane>>;

/// A worker's spare lanes.
#[derive(Default)]
pub(super) struct SpareLanes(RefCell<Batch>);

impl SpareLanes {
    /// Takes a lane, and renews it.
    #[inline]
    pub(super) fn take(&self, color: Color, scheduler: &Scheduler) -> Option<Box<Lane>> {
        let mut lanes = self.0.borrow_mut();
        if lanes.is_empty() {
            *lanes = scheduler.take_batch()?;
        }
        let mut lane = lanes.pop()?;
        lane.renew(color);
        Some(lane)
    }

    /// Keeps a lane.
    #[inline]
    pub(super) fn keep(&self, lane: Box<Lane>, scheduler: &Scheduler) {
        let mut lanes = self.0.borrow_mut();
        lanes.push(lane);
        if lanes.len() == 2 * BATCH {
            let batch = lanes.split_off(BATCH);
            drop(lanes);
            scheduler.keep_batch(batch);
        }
    }
}

impl Scheduler {
    /// Keeps a batch for which a worker has no room. Lanes own the scheduler, so none may stay when it ends: the last
    /// worker takes them out.
    fn keep_batch(&self, batch: Batch) {
        let mut batches = self.spare_lanes.lock();
        if self.is_closing() || batches.len() >= BATCHES {
            drop(batches);
            drop(batch);
        } else {
            batches.push(batch);
        }
    }

    fn take_batch(&self) -> Option<Batch> {
        self.spare_lanes.lock().pop()
    }

    /// Takes one spare lane and renews it, for threads that keep none.
    pub(super) fn take_spare(&self, color: Color) -> Option<Box<Lane>> {
        let mut batches = self.spare_lanes.lock();
        let batch = batches.last_mut()?;
        let lane = batch.pop();
        if batch.is_empty() {
            batches.pop();
        }
        drop(batches);
        lane.map(|mut lane| {
            lane.renew(color);
            lane
        })
    }

    /// To be called by the worker that stops last.
    pub(super) fn drop_spare_lanes(&self) {
        while let Some(lanes) = self.take_batch() {
            drop(lanes);
        }
    }
}
