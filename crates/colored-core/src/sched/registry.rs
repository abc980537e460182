//! The lanes that no table has and that hold waiting tasks: so that a shutdown finds them.

use crate::lane::{Closing, LanePtr, LaneRef, Track};
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

impl Slots {
    /// Puts a lane into the first free slot, which this is.
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

    /// Enters a lane; what to remove it by.
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

    /// Removes what `insert` entered.
    pub(super) fn remove(&self, track: Track) {
        let (shards, index) = (self.shards.len(), track.index());
        let mut slots = self.shards[index % shards].lock();
        let slot = index / shards;
        slots.lanes[slot] = None;
        // It fits: the whole index does.
        slots.free.push(slot as u32);
        if slots.free.len() == slots.lanes.len() && slots.lanes.len() > 1024 {
            // A crowd has come and gone: give its memory back.
            (slots.lanes, slots.free) = (Vec::new(), Vec::new());
        }
    }

    /// Lets nobody in any more, and returns references to all that are.
    pub(super) fn close(&self) -> Vec<LaneRef> {
        let mut lanes = Vec::new();
        for shard in &self.shards {
            let mut slots = shard.lock();
            slots.closed = true;
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
