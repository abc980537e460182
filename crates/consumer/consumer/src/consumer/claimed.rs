//! A partition that the consumer owns: its lanes, and how far it is.

use super::contain::contain;
use super::contain::drop_each;
use super::context::{Claim, HANDS, Hand, color_of_key};
use super::kept::Kept;
use super::key_hash::KeyHasher;
use super::lane::{Lane, LaneKey, Phase};
use super::options::{Order, Settings};
use super::run::Dead;
use super::seek::Unplaced;
use super::shares::{InFlight, Shares};
use super::table::Table;
use super::trouble::Trouble;
use super::waiting::Waiting;
use crate::progress::Tracker;
use crate::source::{Extent, Owned, Record};
use colored::time::Instant;
use colored::{Color, JoinHandle};
use hashbrown::HashTable;
use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

/// So many lanes are allocated at a time: most partitions have few.
const PART: usize = 4;

/// So many lanes are kept when no record is in flight: more than a read brings by default, or each read would make them anew.
const KEPT: usize = 2_048;

/// So many by all partitions of a consumer, which may be thousands.
const KEPT_BY_ALL: usize = 32 * KEPT;

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
    /// Of records, and of bytes.
    shares: [bool; 2],
}

/// A partition that the consumer owns, in one generation.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) owned: Owned,
    pub(crate) claim: Arc<Claim>,
    /// For the runs, by their lanes.
    pub(crate) hands: [Arc<Hand>; HANDS],
    pub(crate) stage: Stage,
    pub(crate) tracker: Tracker,
    pub(crate) lanes: Table<Lane, PART>,
    /// The lanes by their keys.
    keys: HashTable<u32>,
    hasher: KeyHasher,
    /// So many places of lanes are kept when no record is in flight.
    kept: usize,
    /// Lanes whose first record may not start yet, by its offset.
    pub(crate) held: BTreeMap<u64, u32>,
    /// Runs under way.
    pub(crate) runs: usize,
    /// Accepted and not done.
    pub(crate) in_flight: InFlight,
    /// Whether its topic is paused by hand: nothing starts, and nothing is read.
    pub(crate) is_held: bool,
    /// Lanes whose turn has come meanwhile.
    pub(crate) parked: Vec<u32>,
    /// Whether it is to begin when an earlier claim has ended, or when its place is known. Nothing is taken until then.
    pub(crate) awaits_begin: bool,
    /// What of its place is not known yet.
    pub(crate) unplaced: Option<Unplaced>,
    /// Records from here on are not taken: a replay ends here.
    pub(crate) until: Option<u64>,
    /// Whether the source was told to pause it.
    pub(crate) is_paused: bool,
    /// The bounds that it had reached at the last look.
    reached: Reached,
    /// The log that the claim reads, and its end, as last heard.
    pub(crate) identity: Option<u128>,
    pub(crate) log_end: u64,
    /// Why it could not be read at last, if nothing has come since.
    pub(crate) trouble: Trouble,
    /// Since when the low-water mark has stood where it is, with something in flight.
    pub(crate) low_since: Instant,
    pub(crate) retries: u64,
    pub(crate) dead_letters: u64,
    /// Rises with everything that a commit would say.
    pub(crate) version: u64,
    /// Since when it has risen, if that is not committed.
    pub(crate) news_since: Option<Instant>,
    /// The version that was committed at last, and its offset.
    pub(crate) committed: (u64, u64),
    /// Whether the partition was lost, and so can no longer commit.
    pub(crate) is_lost: bool,
}

impl Claimed {
    pub(crate) fn new(owned: Owned, tracker: Tracker, log: &Extent) -> Claimed {
        let committed = (0, tracker.low());
        let claim = Arc::new(Claim::new(owned.clone()));
        Claimed {
            owned,
            hands: Hand::all(&claim),
            claim,
            stage: Stage::Active,
            tracker,
            lanes: Table::new(),
            keys: HashTable::new(),
            kept: KEPT,
            hasher: KeyHasher::new(),
            held: BTreeMap::new(),
            runs: 0,
            in_flight: InFlight::default(),
            is_held: false,
            parked: Vec::new(),
            awaits_begin: false,
            unplaced: None,
            until: None,
            is_paused: false,
            reached: Reached::default(),
            identity: log.identity,
            log_end: log.end,
            trouble: Trouble::default(),
            low_since: Instant::now(),
            retries: 0,
            dead_letters: 0,
            version: 0,
            news_since: None,
            committed,
            is_lost: false,
        }
    }

    /// Whether its records are handled.
    pub(crate) fn is_active(&self) -> bool {
        self.stage == Stage::Active
    }

    /// The lane of a record, which is made if there is none. A record whose key cannot be told is given up, in a lane of its own.
    #[inline]
    pub(crate) fn lane_of(&mut self, record: &Record, settings: &Settings, now: Instant) -> u32 {
        match (&record.key, &settings.key_of, settings.order) {
            (Some(key), None, Order::Key) => self.lane_of_key(record, key, now),
            _ => self.lane_of_other(record, settings, now),
        }
    }

    fn lane_of_other(&mut self, record: &Record, settings: &Settings, now: Instant) -> u32 {
        let mut dead = None;
        match (settings.order, &settings.key_of) {
            (Order::Partition, _) => {
                let color = || Color::of((&*record.topic, record.partition));
                return self.find_lane(&[], || (LaneKey::Partition, color()), now);
            }
            (Order::Key, Some(key_of)) => match contain(|| key_of(record)) {
                Ok(Some(key)) => return self.lane_of_key(record, &key, now),
                Ok(None) => {}
                Err(text) => {
                    let cause = format!("the function of its key {text}");
                    dead = Some(Box::new(Dead { cause, count: 1, failures: 0 }));
                }
            },
            _ => {}
        }
        let key = LaneKey::Alone(record.offset);
        self.lanes.insert(Lane { dead, ..Lane::new(key, Color::unique(), now) })
    }

    fn lane_of_key(&mut self, record: &Record, key: &[u8], now: Instant) -> u32 {
        let color = || color_of_key(&record.topic, record.partition, key);
        self.find_lane(key, || (LaneKey::copy(key), color()), now)
    }

    #[inline]
    fn find_lane(
        &mut self,
        key: &[u8],
        make: impl FnOnce() -> (LaneKey, Color),
        now: Instant,
    ) -> u32 {
        let Claimed { lanes, keys, hasher, .. } = self;
        let hash = hasher.hash(key);
        let is_its = |at: &u32| lanes[*at].key.bytes() == Some(key);
        if let Some(at) = keys.find(hash, is_its) {
            return *at;
        }
        let (key, color) = make();
        let at = lanes.insert(Lane::new(key, color, now));
        keys.insert_unique(hash, at, |at| hasher.hash(lanes[*at].key.bytes().unwrap_or_default()));
        at
    }

    pub(crate) fn remove_lane(&mut self, at: u32) {
        let lane = self.lanes.remove(at);
        if let Some(key) = lane.key.bytes()
            && let Ok(entry) = self.keys.find_entry(self.hasher.hash(key), |other| *other == at)
        {
            entry.remove();
        }
        self.shrink_lanes();
    }

    /// The partition is one of so many of its consumer.
    pub(crate) fn share_kept_lanes(&mut self, partitions: usize) {
        self.kept = (KEPT_BY_ALL / partitions).min(KEPT);
        self.shrink_lanes();
    }

    fn shrink_lanes(&mut self) {
        if self.lanes.shrink(self.kept) {
            self.keys = HashTable::new();
        }
    }

    /// A commit would say more than before.
    pub(crate) fn advance(&mut self, by: u64, now: Instant) {
        if by > 0 {
            self.version += by;
            self.news_since.get_or_insert(now);
        }
    }

    /// Notes which bounds the partition has reached now. Returns whether the source is to return nothing from it.
    pub(crate) fn note_bounds(&mut self, settings: &Settings, shares: &Shares) -> bool {
        self.reached = self.bounds_reached(settings, shares);
        let is_over = self.until.is_some_and(|until| self.tracker.end() >= until);
        !self.is_active()
            || self.is_held
            || self.awaits_begin
            || is_over
            || self.reached != Reached::default()
    }

    /// Which bounds the partition has reached. A reached bound of records or bytes counts as reached until the partition holds
    /// half, so that no record pauses and resumes it. Each bound is judged by itself: another one may have paused the partition.
    fn bounds_reached(&self, settings: &Settings, shares: &Shares) -> Reached {
        let few = settings.partition_records - settings.partition_records / 8;
        let most = if self.reached.count { few / 2 } else { few };
        let near = settings.distance - settings.distance / 8;
        Reached {
            count: self.in_flight.records >= most.max(1),
            distance: self.tracker.distance() >= near.max(1),
            shares: shares.are_reached(self.in_flight, self.reached.shares),
        }
    }

    /// Nothing starts any more: forgets what has not started. Returns what that was.
    pub(crate) fn forget_waiting(&mut self, waiting: &mut Waiting) -> InFlight {
        self.claim.revoke();
        self.held.clear();
        self.parked.clear();
        let mut forgotten = InFlight::default();
        let mut idle = Vec::new();
        for (at, lane) in self.lanes.iter_mut() {
            lane.stop_timer();
            let records: Vec<_> = iter::from_fn(|| lane.pending.pop(waiting)).collect();
            forgotten.records += records.len();
            forgotten.bytes += records.iter().map(Kept::size).sum::<usize>();
            drop_each(records);
            if lane.phase != Phase::Running {
                idle.push(at);
            }
        }
        idle.into_iter().for_each(|at| self.remove_lane(at));
        forgotten
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::TopicPartition;

    #[test]
    fn a_partition_has_memory_for_the_lanes_it_has() {
        let partition = TopicPartition { topic: "t".into(), partition: 0 };
        let owned = Owned { partition, generation: 1 };
        let mut claimed = Claimed::new(owned, Tracker::new(0, Vec::new()), &Extent::default());
        let (color, now) = (Color::unique(), Instant::now());
        for (count, least, most) in [(1, 1, 640), (KEPT + PART, 0, 0), (1, 1, 640)] {
            for number in 0..count {
                let key = number.to_le_bytes();
                claimed.find_lane(&key, || (LaneKey::copy(&key), color), now);
            }
            let all: Vec<_> = claimed.lanes.iter().map(|(at, _)| at).collect();
            assert_eq!(all.len(), count);
            all.into_iter().for_each(|at| claimed.remove_lane(at));
            let bytes = claimed.lanes.bytes();
            assert!((least..=most).contains(&bytes), "{bytes} bytes after {count} lanes");
            assert_eq!(claimed.keys.capacity() == 0, bytes == 0);
        }
        // Of thousands of partitions none keeps what one may keep.
        let all: Vec<_> = (0..KEPT)
            .map(|number| {
                let key = number.to_le_bytes();
                claimed.find_lane(&key, || (LaneKey::copy(&key), color), now)
            })
            .collect();
        all.into_iter().for_each(|at| claimed.remove_lane(at));
        assert_ne!(claimed.lanes.bytes(), 0);
        claimed.share_kept_lanes(5_000);
        assert_eq!(claimed.lanes.bytes(), 0);
    }
}
