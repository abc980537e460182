//! A partition that the consumer owns: its lanes, and how far it is. It belongs to a color of its own: what the driver hands it, the
//! reports of its runs and its timers use it one after the other, so it needs no lock.
//!
//! Invariants:
//!
//! * A lane has one run at most, and a run has the first records of its lane: so the records of a key are handled in their
//!   order, and none begins before the one before it is done.
//! * Between two turns it has as many permits as runs. If a lane is ready then, it is in line for a permit.
//! * A claim leaves only when all its runs have ended: a report behind that breaks a promise.

use super::contain::{contain, drop_each};
use super::context::{Claim, HANDS, Hand, color_of_key};
use super::failure::ConsumerError;
use super::figures::Counts;
use super::kept::Kept;
use super::key_hash::KeyHasher;
use super::lane::{Lane, LaneKey, Phase};
use super::options::{Order, Settings};
use super::run::{Dead, Launch, Run};
use super::shared::{Change, Shared};
use super::shares::InFlight;
use super::table::Table;
use super::waiting::{self, Waiting};
use crate::progress::Tracker;
use crate::source::{Owned, Record};
use colored::time::Instant;
use colored::{Color, JoinHandle};
use hashbrown::HashTable;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::{fmt, iter, mem};

/// So many lanes are allocated at a time: most partitions have few.
const PART: usize = 4;

/// So many lanes are kept when no record is in flight: more than a read brings by default, or each read would make them anew.
const KEPT: usize = 2_048;

/// So many by all partitions of a consumer, which may be thousands.
const KEPT_BY_ALL: usize = 32 * KEPT;

/// A partition that the consumer owns, in one generation.
pub(crate) struct Claimed {
    /// Its number, by which the driver knows it.
    pub(crate) id: u64,
    pub(crate) owned: Owned,
    pub(crate) settings: Arc<Settings>,
    pub(crate) shared: Arc<Shared>,
    /// The driver has it: when that is gone, nothing starts.
    pub(crate) launcher: Weak<dyn Launch>,
    /// For the runs, by their lanes.
    pub(crate) hands: [Weak<Hand>; HANDS],
    /// Whether its records are handled.
    pub(crate) is_active: bool,
    /// Whether it has left.
    pub(crate) is_gone: bool,
    pub(crate) tracker: Tracker,
    pub(crate) lanes: Table<Lane, PART>,
    /// The lanes by their keys.
    keys: HashTable<u32>,
    hasher: KeyHasher,
    /// Lanes that wait for their turn.
    pub(crate) ready: VecDeque<u32>,
    /// Lanes whose first record may not start yet, by its offset.
    pub(crate) held: BTreeMap<u64, u32>,
    /// Lanes whose turn has come while the topic was paused by hand.
    pub(crate) parked: Vec<u32>,
    /// Records that have not started, of all lanes.
    pub(crate) waiting: Waiting,
    /// Of runs that have ended, for other runs: empty vectors, and boxes.
    pub(crate) spare: Vec<Vec<Kept>>,
    #[allow(clippy::vec_box, reason = "the boxes are what is used again")]
    pub(crate) spare_runs: Vec<Box<Run>>,
    /// Runs under way, without those that back off.
    pub(crate) runs: usize,
    /// Permits without a run.
    pub(crate) permits: usize,
    /// What the turn has counted, what is no longer in flight, and how many records it has taken.
    pub(crate) counts: Counts,
    pub(crate) less: InFlight,
    pub(crate) taken: usize,
    /// The end of the log, as last heard.
    pub(crate) log_end: u64,
    /// Since when the low-water mark has stood where it is, with something in flight.
    pub(crate) low_since: Instant,
    pub(crate) retries: u64,
    pub(crate) dead_letters: u64,
    /// Rises with everything that a commit would say.
    pub(crate) version: u64,
    /// Since when it has risen, if that is not committed.
    pub(crate) news_since: Option<Instant>,
    /// The offset that was committed at last.
    pub(crate) committed: u64,
}

impl fmt::Debug for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimed").field("owned", &self.owned).finish_non_exhaustive()
    }
}

impl Claimed {
    pub(crate) fn new(
        (id, owned): (u64, Owned),
        (tracker, log_end): (Tracker, u64),
        shared: Arc<Shared>,
        launcher: Weak<dyn Launch>,
    ) -> Claimed {
        let settings = Arc::clone(&shared.sums().settings);
        Claimed {
            id,
            owned,
            settings,
            shared,
            launcher,
            hands: [const { Weak::new() }; HANDS],
            is_active: true,
            is_gone: false,
            committed: tracker.low(),
            tracker,
            lanes: Table::new(),
            keys: HashTable::new(),
            hasher: KeyHasher::new(),
            ready: VecDeque::new(),
            held: BTreeMap::new(),
            parked: Vec::new(),
            waiting: Waiting::default(),
            spare: Vec::new(),
            spare_runs: Vec::new(),
            runs: 0,
            permits: 0,
            counts: Counts::default(),
            less: InFlight::default(),
            taken: 0,
            log_end,
            low_since: Instant::now(),
            retries: 0,
            dead_letters: 0,
            version: 0,
            news_since: None,
        }
    }

    /// Its first turn. `is_chosen` if a commit has to say its place.
    pub(crate) fn begin(
        &mut self,
        claim: &Arc<Claim>,
        hands: [Weak<Hand>; HANDS],
        is_chosen: bool,
    ) {
        self.hands = hands;
        self.note_news(claim, is_chosen);
    }

    /// A commit may say more than the last, though no record is done.
    pub(crate) fn note_news(&mut self, claim: &Arc<Claim>, has_news: bool) {
        let now = Instant::now();
        self.advance(u64::from(has_news), now);
        self.end_turn(claim, now);
    }

    /// A turn that panicked would be told to nobody. What it has left undone is unknown, so the consumer ends.
    pub(crate) fn contain_turn(&mut self, turn: impl FnOnce(&mut Claimed)) {
        if let Err(panic) = contain(|| turn(self)) {
            self.note_panic(panic);
        }
    }

    #[cold]
    pub(crate) fn note_panic(&mut self, panic: String) {
        self.shared.violate(&panic, Some(&self.owned.partition));
        self.shared.fail(ConsumerError::Violation(format!("{}: {panic}", self.owned.partition)));
    }

    /// Ends a turn: tells what it has changed, and starts runs, as many as there are permits for.
    pub(crate) fn end_turn(&mut self, claim: &Arc<Claim>, now: Instant) {
        loop {
            self.release_held();
            let wanted = self.ready.len();
            let granted = self.settle(wanted);
            if granted == 0 {
                return;
            }
            self.permits = granted;
            self.pump(claim, now);
            self.release_held();
            let is_in_line = granted < wanted;
            if self.permits == 0 && (is_in_line || self.ready.is_empty()) {
                return;
            }
        }
    }

    /// Tells what has changed, and gives permits back that have no run. Returns how many it gets of those that it wants.
    fn settle(&mut self, wanted: usize) -> usize {
        let change = Change {
            counts: mem::take(&mut self.counts),
            less: mem::take(&mut self.less),
            taken: mem::take(&mut self.taken),
            distance: self.tracker.distance(),
            low: self.tracker.low(),
            version: self.version,
            is_drained: !self.is_active && self.runs == 0,
            back: mem::take(&mut self.permits),
            wanted,
        };
        self.shared.settle(self.id, change)
    }

    /// Its part of what all claims may keep, of so much.
    pub(crate) fn part_of(&self, all: usize) -> usize {
        // Ordering: Relaxed, a hint.
        all >> self.shared.part.load(Ordering::Relaxed)
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
                Ok(Some(key)) => {
                    let at = self.lane_of_key(record, &key, now);
                    drop_each(Some(key));
                    return at;
                }
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

    /// Gives memory back that nothing needs.
    pub(crate) fn shrink(&mut self) {
        self.shrink_lanes();
        self.waiting.shrink(self.part_of(waiting::KEPT));
        self.shrink_spare();
    }

    fn shrink_lanes(&mut self) {
        if self.lanes.shrink(self.part_of(KEPT_BY_ALL).min(KEPT)) {
            (self.keys, self.ready) = (HashTable::new(), VecDeque::new());
        }
    }

    /// A commit would say more than before.
    pub(crate) fn advance(&mut self, by: u64, now: Instant) {
        if by > 0 {
            self.version += by;
            self.news_since.get_or_insert(now);
        }
    }

    /// Nothing starts any more: forgets what has not started.
    pub(crate) fn end(&mut self, claim: &Arc<Claim>) {
        self.is_active = false;
        self.ready.clear();
        self.held.clear();
        self.parked.clear();
        let mut idle = Vec::new();
        for (at, lane) in self.lanes.iter_mut() {
            lane.stop_timer();
            let records: Vec<_> = iter::from_fn(|| lane.pending.pop(&mut self.waiting)).collect();
            self.less.records += records.len();
            self.less.bytes += records.iter().map(Kept::size).sum::<usize>();
            drop_each(records);
            if lane.phase != Phase::Running {
                idle.push(at);
            }
        }
        idle.into_iter().for_each(|at| self.remove_lane(at));
        self.shrink();
        self.end_turn(claim, Instant::now());
    }

    /// It has left.
    pub(crate) fn close(&mut self) {
        self.is_gone = true;
        // The last word: what it has counted.
        self.settle(0);
        // A context that the user keeps keeps the claim.
        self.tracker = Tracker::new(self.tracker.low(), Vec::new());
        (self.lanes, self.keys, self.waiting) =
            (Table::new(), HashTable::new(), Waiting::default());
        (self.ready, self.parked, self.held) = (VecDeque::new(), Vec::new(), BTreeMap::new());
        (self.spare, self.spare_runs) = (Vec::new(), Vec::new());
    }

    /// Aborts what runs: its futures are dropped under their colors. Returns what tells when that has happened.
    pub(crate) fn abort_runs(&mut self) -> Vec<JoinHandle<()>> {
        let runs = self.lanes.iter_mut().filter_map(|(_, lane)| lane.task.take());
        let runs: Vec<_> = runs.inspect(JoinHandle::abort).collect();
        self.counts.aborted += runs.len() as u64;
        runs
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
    use super::super::context::ask_all;
    use super::super::kept::Records;
    use super::super::state::tests::{Nobody, one_claim};
    use super::*;
    use crate::source::TopicPartition;

    /// What such a turn has left undone may be records that a commit would pass.
    #[colored::test]
    async fn a_turn_that_panics_ends_the_consumer() {
        let (state, _, claim) = one_claim(0, None);
        claim.post(|_, _| panic!("a turn"));
        assert_eq!(ask_all([claim], |_, _| ()).await, [Some(())]);
        let failure = state.sums().failure.take().map(|failure| failure.to_string());
        assert_eq!(failure.as_deref(), Some("a promise is broken: t/0: panicked: a turn"));
    }

    #[test]
    fn a_partition_has_memory_for_the_lanes_it_has() {
        let partition = TopicPartition { topic: "t".into(), partition: 0 };
        let owned = Owned { partition, generation: 1 };
        let shared = Arc::new(Shared::new(Arc::default()));
        let tracker = Tracker::new(0, Vec::new());
        let launcher = Weak::<Nobody>::new();
        let mut claimed = Claimed::new((1, owned), (tracker, 0), Arc::clone(&shared), launcher);
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
        shared.part.store(5_000_u32.ilog2(), Ordering::Relaxed);
        claimed.ready.reserve(100);
        claimed.spare.push(Vec::with_capacity(100));
        let (records, dead) = (Records::default(), None);
        let run = Run { lane: 0, color, records, done: 0, attempts: 0, dead_letters: 0, dead };
        claimed.spare_runs.push(Box::new(run));
        claimed.shrink();
        assert_eq!(claimed.lanes.bytes(), 0);
        let spare = [claimed.spare.capacity(), claimed.spare_runs.capacity()];
        assert_eq!((claimed.ready.capacity(), spare), (0, [0, 0]));
    }
}
