//! The lanes that are in no table and hold waiting tasks. A shutdown finds them here.

use crate::lane::{Closing, LanePtr, LaneRef, Track};
use crate::sync::Mutex;
use crossbeam_utils::CachePadded;

/// One list per worker, so that workers share no lock in normal operation. A lane is entered once in
/// its life, when it first becomes idle with waiting tasks.
pub(super) struct Registry {
    shards: Box<[CachePadded<Mutex<Slots>>]>,
}

#[derive(Default)]
struct Slots {
    lanes: Vec<Option<LanePtr>>,
    free: Vec<u32>,
    closed: bool,
}

impl Slots {
    /// Puts a lane into `slot`, which is the first free one.
    fn put(&mut self, slot: usize, lane: LanePtr) {
        if self.free.pop().is_some() {
            self.lanes[slot] = Some(lane);
        } else {
            self.lanes.push(Some(lane));
        }
    }
}

impl Registry {
    pub(super) fn new(shards: usize) -> Self {
        let shard = |_| CachePadded::new(Mutex::new(Slots::default()));
        Self { shards: (0..shards).map(shard).collect() }
    }

    /// Enters a lane; returns the key that removes it.
    pub(super) fn insert(&self, shard: usize, lane: LanePtr) -> Result<Track, Closing> {
        let shards = self.shards.len();
        // A shard has room for 2³² / `shards` lanes.
        for shard in (shard..shard + shards).map(|shard| shard % shards) {
            let mut slots = self.shards[shard].lock();
            if slots.closed {
                return Err(Closing);
            }
            let slot = slots.free.last().map_or(slots.lanes.len(), |slot| *slot as usize);
            if let Some(track) = Track::at(slot * shards + shard) {
                slots.put(slot, lane);
                return Ok(track);
            }
        }
        panic!("fewer than 2³² colors have tasks that wait");
    }

    /// Removes a lane that `insert` entered.
    pub(super) fn remove(&self, track: Track) {
        let (shards, index) = (self.shards.len(), track.index());
        let mut slots = self.shards[index % shards].lock();
        let slot = index / shards;
        slots.lanes[slot] = None;
        // The slot fits, because the whole index does.
        slots.free.push(slot as u32);
        if slots.free.len() == slots.lanes.len() && slots.lanes.len() > 1024 {
            // Many lanes have come and gone: free their memory.
            (slots.lanes, slots.free) = (Vec::new(), Vec::new());
        }
    }

    /// Closes the registry to further lanes, and returns references to all entered ones.
    pub(super) fn close(&self) -> Vec<LaneRef> {
        let mut lanes = Vec::new();
        for shard in &self.shards {
            let mut slots = shard.lock();
            slots.closed = true;
            for lane in slots.lanes.iter().flatten() {
                // SAFETY: an entered lane is not freed before `remove`, which needs the lock.
                if unsafe { lane.get() }.try_retain() {
                    // SAFETY: the reference was just counted.
                    lanes.push(unsafe { LaneRef::from_counted(*lane) });
                }
            }
        }
        lanes
    }
}
