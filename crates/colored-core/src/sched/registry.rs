//! The lanes that no table has and that hold waiting tasks: so that a shutdown finds them.

use crate::lane::{Closing, LanePtr, LaneRef, UNTRACKED};
use crate::sync::Mutex;
use crossbeam_utils::CachePadded;

/// One list per worker, so that no lock is shared in normal operation. A lane is entered once in
/// its life, when it first becomes idle with tasks that wait.
pub(super) struct Registry {
    shards: Box<[CachePadded<Mutex<Slots>>]>,
}

#[derive(Default)]
struct Slots {
    lanes: Vec<Option<LanePtr>>,
    free: Vec<u32>,
    closed: bool,
}

impl Registry {
    pub(super) fn new(shards: usize) -> Self {
        let shard = |_| CachePadded::new(Mutex::new(Slots::default()));
        Self { shards: (0..shards).map(shard).collect() }
    }

    /// Enters a lane; the index to remove it by.
    pub(super) fn insert(&self, shard: usize, lane: LanePtr) -> Result<u64, Closing> {
        let mut slots = self.shards[shard].lock();
        if slots.closed {
            return Err(Closing);
        }
        let slot = match slots.free.pop() {
            Some(slot) => {
                slots.lanes[slot as usize] = Some(lane);
                slot
            }
            None => {
                slots.lanes.push(Some(lane));
                u32::try_from(slots.lanes.len() - 1).expect("fewer than 2³² lanes")
            }
        };
        Ok(u64::from(slot) * self.shards.len() as u64 + shard as u64)
    }

    /// Removes what `insert` entered, if it did.
    pub(super) fn remove(&self, index: u64) {
        if index == UNTRACKED {
            return;
        }
        let shards = self.shards.len() as u64;
        let mut slots = self.shards[(index % shards) as usize].lock();
        // Both fit: `insert` had them so.
        let slot = (index / shards) as u32;
        slots.lanes[slot as usize] = None;
        slots.free.push(slot);
        if slots.free.len() == slots.lanes.len() && slots.lanes.len() > 1024 {
            // A crowd has come and gone: give its memory back.
            (slots.lanes, slots.free) = (Vec::new(), Vec::new());
        }
    }

    /// Lets nobody in any more, and returns references to all that are.
    pub(super) fn close(&self) -> Vec<LaneRef> {
        self.all_and(|slots| slots.closed = true)
    }

    /// References to all lanes.
    pub(super) fn all(&self) -> Vec<LaneRef> {
        self.all_and(|_| ())
    }

    fn all_and(&self, with: impl Fn(&mut Slots)) -> Vec<LaneRef> {
        let mut lanes = Vec::new();
        for shard in &self.shards {
            let mut slots = shard.lock();
            with(&mut slots);
            for lane in slots.lanes.iter().flatten() {
                // SAFETY: a lane that is entered is not freed before `remove`, which needs the lock.
                if unsafe { lane.get() }.try_retain() {
                    // SAFETY: just counted.
                    lanes.push(unsafe { LaneRef::from_counted(*lane) });
                }
            }
        }
        lanes
    }
}
