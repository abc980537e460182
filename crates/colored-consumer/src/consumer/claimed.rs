//! A partition that the consumer owns: its lanes, and how far it is.

use super::context::{Claim, color_of};
use super::lane::{Lane, LaneKey};
use super::options::{Order, Settings};
use super::shares::Shares;
use crate::progress::Tracker;
use crate::source::{Owned, Record, Room};
use bytes::Bytes;
use colored::time::Instant;
use colored::{Color, JoinHandle};
use slab::Slab;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What becomes of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its records are handled.
    Active,
    /// It is to go to others: nothing starts, and what runs may finish until then.
    Draining(Instant),
    /// It is lost, or the time of the drain is over: what runs is being dropped.
    Ending,
}

/// The bounds that a partition has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reached {
    count: bool,
    distance: bool,
    share_of_records: bool,
    share_of_bytes: bool,
}

/// A partition that the consumer owns, in one generation.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) owned: Owned,
    pub(crate) claim: Arc<Claim>,
    pub(crate) stage: Stage,
    pub(crate) tracker: Tracker,
    pub(crate) lanes: Slab<Lane>,
    pub(crate) keys: HashMap<LaneKey, usize>,
    /// Lanes whose first record may not start yet, by its offset.
    pub(crate) held: BTreeMap<u64, usize>,
    /// Runs under way.
    pub(crate) runs: usize,
    /// Accepted and not done.
    pub(crate) records: usize,
    pub(crate) bytes: usize,
    /// Whether the source was told to pause it.
    pub(crate) is_paused: bool,
    /// The bounds that it had reached at the last look.
    reached: Reached,
    /// The end of the log, as last heard.
    pub(crate) log_end: u64,
    /// Since when the low-water mark has stood where it is, with something in flight.
    pub(crate) low_since: Instant,
    pub(crate) retries: u64,
    pub(crate) dead_letters: u64,
    /// Rises with everything that a commit would say.
    pub(crate) version: u64,
    /// The version that was committed at last, and its offset.
    pub(crate) committed: (u64, u64),
    /// Whether the partition was lost, and so can no longer commit.
    pub(crate) is_lost: bool,
}

impl Claimed {
    pub(crate) fn new(owned: Owned, tracker: Tracker, log_end: u64) -> Claimed {
        let committed = (0, tracker.low());
        let claim = Arc::new(Claim { owned: owned.clone(), revoked: Default::default() });
        Claimed {
            owned,
            claim,
            stage: Stage::Active,
            tracker,
            lanes: Slab::new(),
            keys: HashMap::new(),
            held: BTreeMap::new(),
            runs: 0,
            records: 0,
            bytes: 0,
            is_paused: false,
            reached: Reached::default(),
            log_end,
            low_since: Instant::now(),
            retries: 0,
            dead_letters: 0,
            version: 0,
            committed,
            is_lost: false,
        }
    }

    /// The lane of a record, which is made if there is none.
    pub(crate) fn lane_of(&mut self, record: &Record, settings: &Settings, now: Instant) -> usize {
        let key = match (settings.order, &settings.key_of) {
            (Order::None, _) => LaneKey::Alone(record.offset),
            (Order::Partition, _) => LaneKey::Partition,
            (Order::Key, None) => keyed(record.key.clone(), record.offset),
            (Order::Key, Some(key_of)) => keyed(key_of(record), record.offset),
        };
        if let Some(lane) = self.keys.get(&key) {
            return *lane;
        }
        let color = match &key {
            LaneKey::Keyed(key) => color_of(&record.topic, record.partition, key),
            LaneKey::Partition => Color::of((&*record.topic, record.partition)),
            LaneKey::Alone(_) => Color::unique(),
        };
        let lane = self.lanes.insert(Lane::new(key.clone(), color, now));
        self.keys.insert(key, lane);
        lane
    }

    pub(crate) fn remove_lane(&mut self, at: usize) {
        let lane = self.lanes.remove(at);
        self.keys.remove(&lane.key);
    }

    /// Whether the source is to return nothing from it.
    pub(crate) fn wants_pause(&self, settings: &Settings, shares: Shares) -> bool {
        self.must_pause(self.bounds_reached(settings, shares))
    }

    /// Notes which bounds the partition has reached now. Returns whether the source is to return nothing from it.
    pub(crate) fn note_bounds(&mut self, settings: &Settings, shares: Shares) -> bool {
        self.reached = self.bounds_reached(settings, shares);
        self.must_pause(self.reached)
    }

    fn must_pause(&self, reached: Reached) -> bool {
        self.stage != Stage::Active || reached != Reached::default()
    }

    /// Which bounds the partition has reached. A reached bound of records or bytes counts as reached until the partition holds
    /// half, so that no record pauses and resumes it. Each bound is judged by itself: another one may have paused the partition.
    fn bounds_reached(&self, settings: &Settings, shares: Shares) -> Reached {
        let few = settings.partition_records - settings.partition_records / 8;
        let most = if self.reached.count { few / 2 } else { few };
        let near = settings.distance - settings.distance / 8;
        Reached {
            count: self.records >= most.max(1),
            distance: self.tracker.distance() >= near.max(1),
            share_of_records: shares
                .records
                .is_used_up(self.records, self.reached.share_of_records),
            share_of_bytes: shares.bytes.is_used_up(self.bytes, self.reached.share_of_bytes),
        }
    }

    /// How much more may come.
    pub(crate) fn room(&self, settings: &Settings, shares: Shares) -> Room {
        let by_count = settings.partition_records.saturating_sub(self.records);
        let by_distance = settings.distance.saturating_sub(self.tracker.distance());
        let records = by_count.min(by_distance).min(shares.records.left(self.records));
        Room { records, bytes: shares.bytes.left(self.bytes) }
    }

    /// Nothing starts any more: forgets what has not started. Returns how many records and bytes that are.
    pub(crate) fn forget_waiting(&mut self) -> (usize, usize) {
        self.claim.revoked.cancel();
        self.held.clear();
        let (mut records, mut bytes) = (0, 0);
        let mut idle = Vec::new();
        for (at, lane) in &mut self.lanes {
            lane.stop_timer();
            records += lane.pending.len();
            bytes += lane.pending.iter().map(Record::size).sum::<usize>();
            lane.pending.clear();
            if lane.running.is_empty() {
                idle.push(at);
            }
        }
        idle.into_iter().for_each(|at| self.remove_lane(at));
        self.records -= records;
        self.bytes -= bytes;
        (records, bytes)
    }

    /// Aborts what runs: its futures are dropped under their colors. Returns what tells when that has happened.
    pub(crate) fn abort_runs(&mut self) -> Vec<JoinHandle<()>> {
        let runs = self.lanes.iter_mut().filter_map(|(_, lane)| lane.task.take());
        runs.inspect(JoinHandle::abort).collect()
    }

    /// The lowest offset that a lane has, for the sentinel of the commits.
    pub(crate) fn lowest_in_lanes(&self) -> Option<u64> {
        self.lanes.iter().filter_map(|(_, lane)| lane.first()).min()
    }

    /// The lane that holds the committed offset back.
    pub(crate) fn first_lane(&self) -> Option<&Lane> {
        let first = self.tracker.first_unfinished()?;
        self.lanes.iter().map(|(_, lane)| lane).find(|lane| lane.first() == Some(first))
    }
}

fn keyed(key: Option<Bytes>, offset: u64) -> LaneKey {
    key.map_or(LaneKey::Alone(offset), LaneKey::Keyed)
}
