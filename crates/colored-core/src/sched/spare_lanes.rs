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

/// Batches that each eight workers share: 2 MiB, the limit of `memory/cache.rs` for blocks of one size. With a fifth of it,
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
    pub(super) fn take(
        &self,
        color: Color,
        worker: usize,
        scheduler: &Scheduler,
    ) -> Option<Box<Lane>> {
        let mut lanes = self.0.borrow_mut();
        if lanes.is_empty() {
            *lanes = scheduler.take_batch(worker)?;
        }
        let mut lane = lanes.pop()?;
        lane.renew(color);
        Some(lane)
    }

    /// Keeps a lane.
    #[inline]
    pub(super) fn keep(&self, lane: Box<Lane>, worker: usize, scheduler: &Scheduler) {
        let mut lanes = self.0.borrow_mut();
        lanes.push(lane);
        if lanes.len() == 2 * BATCH {
            let batch = lanes.split_off(BATCH);
            drop(lanes);
            scheduler.keep_batch(worker, batch);
        }
    }
}

impl Scheduler {
    /// Keeps a batch for which a worker has no room. Lanes own the scheduler, so none may stay when it ends: the last
    /// worker takes them out.
    fn keep_batch(&self, worker: usize, batch: Batch) {
        drop(self.spare_lanes.push(worker, batch, BATCHES, || self.is_closing()));
    }

    fn take_batch(&self, worker: usize) -> Option<Batch> {
        self.spare_lanes.pop(worker)
    }

    /// Takes one spare lane and renews it, for threads that keep none.
    pub(super) fn take_spare(&self, color: Color) -> Option<Box<Lane>> {
        let one_of = |batches: &mut Vec<Batch>| {
            let batch = batches.last_mut()?;
            let lane = batch.pop();
            if batch.is_empty() {
                batches.pop();
            }
            lane
        };
        let mut lane = self
            .spare_lanes
            .find(0, |shelf| if shelf.len() == 0 { None } else { shelf.with(one_of) })?;
        lane.renew(color);
        Some(lane)
    }

    /// To be called by the worker that stops last.
    pub(super) fn drop_spare_lanes(&self) {
        drop(self.spare_lanes.take_all());
    }
}
