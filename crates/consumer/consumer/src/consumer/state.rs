//! The state of a consumer: which partitions it has, and what becomes of them. It belongs to the color of the driver. The records of
//! a partition, and all that happens for each of them, are under a color of its claim: see `claimed`. What the two have in common is
//! in `shared`.
//!
//! Invariants:
//!
//! * The driver hands a claim what was read of its partition, and tells it that it is to go, by posts, which come in their order.
//! * A claim is known here, and in `shared`, from its assignment until all its runs have ended and its last commit is made.

use super::caught_up::Waits;
use super::claimed::Claimed;
use super::contain::drop_each;
use super::context::{Claim, HANDS, Hand};
use super::failure::ConsumerError;
use super::options::Settings;
use super::place::Begin;
use super::run::Launch;
use super::seek::{Seek, Unplaced};
use super::shared::{Shared, Sums};
use super::shares::InFlight;
use super::trouble::Trouble;
use crate::progress::Tracker;
use crate::source::{Extent, Owned, Record};
use colored::time::Instant;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, MutexGuard, Weak};

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

/// What the driver has of a claim.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) claim: Arc<Claim>,
    /// For the runs. A run keeps one, and through it the claim.
    _hands: [Arc<Hand>; HANDS],
    pub(crate) stage: Stage,
    /// Where the reader goes on.
    pub(crate) end: u64,
    /// Whether it is to begin when an earlier claim has ended, or when its place is known. Nothing is taken until then.
    pub(crate) awaits_begin: bool,
    /// What of its place is not known yet.
    pub(crate) unplaced: Option<Unplaced>,
    /// Records from here on are not taken: a replay ends here.
    pub(crate) until: Option<u64>,
    /// The log that the claim reads.
    pub(crate) identity: Option<u128>,
    /// Why it could not be read at last, if nothing has come since.
    pub(crate) trouble: Trouble,
}

impl Entry {
    pub(crate) fn owned(&self) -> &Owned {
        &self.claim.owned
    }

    /// Whether its records are handled.
    pub(crate) fn is_active(&self) -> bool {
        self.stage == Stage::Active
    }

    /// Whether the source is to return nothing from it, whatever it holds.
    pub(crate) fn is_closed(&self) -> bool {
        let is_over = self.until.is_some_and(|until| self.end >= until);
        !self.is_active() || self.claim.is_held() || self.awaits_begin || is_over
    }
}

/// What belongs to the color of the consumer.
pub(crate) struct State {
    pub(crate) settings: Arc<Settings>,
    pub(crate) shared: Arc<Shared>,
    /// The driver has it: when that is gone, nothing starts.
    launcher: Weak<dyn Launch>,
    pub(crate) claims: BTreeMap<u64, Entry>,
    /// The newest claim of each partition and generation.
    ids: HashMap<Owned, u64>,
    next_id: u64,
    /// Who wants to go elsewhere, and the claims that this has begun.
    pub(crate) seeks: VecDeque<Seek>,
    pub(crate) begins: Vec<Begin>,
    /// Whether a claim may wait for its place.
    pub(crate) has_unplaced: bool,
    /// Topics that are paused by hand.
    pub(crate) held_topics: BTreeSet<Arc<str>>,
    /// Whether a claim is not active.
    pub(crate) has_ending: bool,
    /// Whether a claim may wait until its partition is read again.
    pub(crate) has_trouble: bool,
    /// Who waits until the consumer has caught up. None if it has ended.
    pub(crate) waits: Option<Waits>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("claims", &self.claims).finish_non_exhaustive()
    }
}

impl State {
    pub(crate) fn new(
        settings: Arc<Settings>,
        launcher: Weak<dyn Launch>,
        shared: Arc<Shared>,
    ) -> State {
        State {
            settings,
            shared,
            launcher,
            claims: BTreeMap::new(),
            ids: HashMap::new(),
            next_id: 0,
            seeks: VecDeque::new(),
            begins: Vec::new(),
            has_unplaced: false,
            held_topics: BTreeSet::new(),
            has_ending: false,
            has_trouble: false,
            waits: Some(Waits::default()),
        }
    }

    pub(crate) fn sums(&self) -> MutexGuard<'_, Sums> {
        self.shared.sums()
    }

    /// Begins a claim. `is_chosen` if its place is not what the group has committed.
    pub(crate) fn insert(
        &mut self,
        owned: Owned,
        tracker: Tracker,
        log: &Extent,
        is_chosen: bool,
        unplaced: Option<Unplaced>,
    ) -> u64 {
        self.next_id += 1;
        let (id, end, low) = (self.next_id, tracker.end(), tracker.low());
        let (shared, launcher) = (Arc::clone(&self.shared), self.launcher.clone());
        let claimed = Claimed::new((id, owned.clone()), (tracker, log.end), shared, launcher);
        let claim = Arc::new(Claim::new(owned.clone(), claimed));
        claim.hold(self.held_topics.contains(&owned.partition.topic));
        self.shared.insert(id, &claim, low, unplaced.is_none());
        let hands = Hand::all(&claim);
        let weak = hands.each_ref().map(Arc::downgrade);
        claim.post(move |claimed, claim| claimed.begin(claim, weak, is_chosen));
        let (stage, awaits_begin, until) = (Stage::Active, false, None);
        let (identity, trouble) = (log.identity, Trouble::default());
        let entry = Entry {
            claim,
            _hands: hands,
            stage,
            end,
            awaits_begin,
            unplaced,
            until,
            identity,
            trouble,
        };
        self.claims.insert(id, entry);
        self.ids.insert(owned, id);
        self.look_at(id);
        id
    }

    /// The active claim of a partition.
    pub(crate) fn active(&self, owned: &Owned) -> Option<u64> {
        let id = self.ids.get(owned).copied();
        id.filter(|id| self.claims.get(id).is_some_and(Entry::is_active))
    }

    /// Hands records that were read to their claim. The reader goes on at `next`, and the log ends at `end`.
    pub(crate) fn accept(
        &mut self,
        owned: &Owned,
        mut records: Vec<Record>,
        (mut next, mut end): (u64, u64),
    ) {
        let id = self.active(owned);
        let entry = id.and_then(|id| Some((id, self.claims.get_mut(&id)?)));
        let Some((id, entry)) = entry.filter(|(_, entry)| !entry.awaits_begin) else {
            self.sums().figures.counts.stale += records.len() as u64;
            drop_each(records.drain(..));
            return self.shared.give_back(records);
        };
        if let Some(until) = entry.until {
            drop_each(records.extract_if(.., |record| record.offset >= until));
            (next, end) = (next.min(until), end.min(until));
        }
        entry.trouble.end();
        let last = records.last().map_or(0, |record| record.offset + 1);
        entry.end = entry.end.max(last).max(next);
        let bytes = records.iter().map(Record::size).sum();
        let more = InFlight { records: records.len(), bytes };
        self.shared.sums().hand(id, more, entry.is_closed());
        entry.claim.post(move |claimed, claim| claimed.accept(claim, records, (next, end)));
    }

    /// Looks whether the source is to return something from a claim.
    pub(crate) fn look_at(&mut self, id: u64) {
        if let Some(entry) = self.claims.get(&id) {
            self.shared.sums().close(id, entry.is_closed());
        }
    }

    /// The consumer is to stop.
    pub(crate) fn fail(&mut self, error: ConsumerError) {
        self.shared.fail(error);
    }

    /// Forgets a claim whose runs have ended.
    pub(crate) fn remove(&mut self, id: u64) {
        if let Some(entry) = self.claims.remove(&id) {
            if self.ids.get(entry.owned()) == Some(&id) {
                self.ids.remove(entry.owned());
            }
            self.shared.remove(id);
            entry.claim.post(|claimed, _| claimed.close());
            self.look_at_waits();
            self.shared.attention.notify_one();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::context::Context;
    use super::super::failure::Failure;
    use super::super::run::Common;
    use super::super::work::Each;
    use super::*;
    use crate::source::TopicPartition;
    use std::future::Ready;

    pub(crate) type Nobody = Common<Each<fn(Record, Context) -> Ready<Result<(), Failure>>>>;

    /// A member with one claim, at the end of its log, that nobody launches runs of.
    pub(crate) fn one_claim(end: u64, unplaced: Option<Unplaced>) -> (State, u64, Arc<Claim>) {
        let settings = Arc::<Settings>::default();
        let shared = Arc::new(Shared::new(Arc::clone(&settings)));
        let mut state = State::new(settings, Weak::<Nobody>::new(), shared);
        let partition = TopicPartition { topic: "t".into(), partition: 0 };
        let (owned, log) =
            (Owned { partition, generation: 1 }, Extent { end, ..Extent::default() });
        let tracker = Tracker::new(end, Vec::new());
        let id = state.insert(owned, tracker, &log, unplaced.is_some(), unplaced);
        let claim = Arc::clone(&state.claims[&id].claim);
        (state, id, claim)
    }
}
