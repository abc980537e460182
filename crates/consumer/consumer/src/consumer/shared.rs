//! What the claims of a consumer share: its bounds, its permits, what it counts, and what the driver is to know of each claim.
//!
//! Each claim has a color of its own, and the driver has another one: so this is behind a lock. A turn takes it once or twice, for a
//! moment, and calls nothing meanwhile that the user wrote.
//!
//! Invariants:
//!
//! * The shares count exactly what the source has returned for a claim and is neither done nor forgotten: the driver adds it before
//!   it hands it to the claim.
//! * Each turn of a claim tells here what it has changed, at its end.
//! * What the driver has to do because of that wakes it.

use super::context::Claim;
use super::failure::ConsumerError;
use super::figures::{Counts, Figures};
use super::line::say;
use super::options::Settings;
use super::pauses::{BEHIND, Reached};
use super::permits::{Granted, Permits};
use super::shares::{InFlight, Shares};
use crate::source::{Record, TopicPartition};
use colored::sync::Notify;
use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// So many empty vectors of the source are kept for it.
const SPARE: usize = 4;

/// What the claims share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Wakes the driver.
    pub(crate) attention: Notify,
    /// How much of what runs have told is unheard.
    pub(crate) unheard: AtomicUsize,
    /// A claim keeps what all may keep, shifted by so much: about its part.
    pub(crate) part: AtomicU32,
    sums: Mutex<Sums>,
}

/// What is behind the lock.
#[derive(Debug)]
pub(crate) struct Sums {
    pub(crate) settings: Arc<Settings>,
    pub(crate) of: BTreeMap<u64, Sum>,
    pub(crate) shares: Shares,
    permits: Permits,
    pub(crate) figures: Figures,
    /// Partitions that the source is to pause, or to resume, in this order.
    pub(crate) pauses: Vec<(TopicPartition, bool)>,
    /// Whether the source is not read until half of what runs have told, or less, is left.
    pub(crate) is_behind: bool,
    /// Whether a claim may have more to say than at its last commit.
    pub(crate) has_news: bool,
    /// Records that are done since the last commit.
    pub(crate) done_since: usize,
    /// Whether somebody waits until claims have come so far.
    pub(crate) has_waits: bool,
    pub(crate) failure: Option<ConsumerError>,
    /// Empty ones, for the source.
    pub(crate) spare: Vec<Vec<Record>>,
}

/// What the driver knows of a claim.
#[derive(Debug)]
pub(crate) struct Sum {
    pub(crate) claim: Weak<Claim>,
    pub(crate) partition: TopicPartition,
    /// Accepted and not done.
    pub(crate) in_flight: InFlight,
    /// Of these, what the claim has not taken yet.
    pub(crate) untaken: usize,
    /// How many records the claim has taken from its first unfinished one on.
    pub(crate) distance: usize,
    /// The bounds that it had reached at the last look.
    pub(crate) reached: Reached,
    /// Whether the claim knows its place. Until then its low-water mark says nothing, and it commits nothing.
    pub(crate) is_placed: bool,
    /// Whether nothing is to be read for another reason.
    pub(crate) is_closed: bool,
    /// Whether the source was told to pause it.
    pub(crate) is_paused: bool,
    /// Everything below is done.
    pub(crate) low: u64,
    /// The version of what a commit would say, and that of the last commit.
    pub(crate) version: u64,
    pub(crate) committed: u64,
    /// Whether the partition was lost, and so can no longer commit.
    pub(crate) is_lost: bool,
    /// Whether it is to go, and none of its handlers runs any more.
    pub(crate) is_drained: bool,
}

impl Sum {
    pub(crate) fn has_news(&self) -> bool {
        !self.is_lost && self.is_placed && self.version != self.committed
    }
}

/// What a turn of a claim has changed.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) counts: Counts,
    /// No longer in flight.
    pub(crate) less: InFlight,
    /// So many records it has taken, of those that it was given.
    pub(crate) taken: usize,
    pub(crate) distance: usize,
    pub(crate) low: u64,
    pub(crate) version: u64,
    pub(crate) is_drained: bool,
    /// Permits that it gives back, and how many it wants.
    pub(crate) back: usize,
    pub(crate) wanted: usize,
}

impl Shared {
    pub(crate) fn new(settings: Arc<Settings>) -> Shared {
        let sums = Sums {
            of: BTreeMap::new(),
            shares: Shares::new(&settings),
            permits: Permits::new(settings.concurrency),
            settings,
            figures: Figures::default(),
            pauses: Vec::new(),
            is_behind: false,
            has_news: false,
            done_since: 0,
            has_waits: false,
            failure: None,
            spare: Vec::new(),
        };
        Shared {
            attention: Notify::new(),
            unheard: AtomicUsize::new(0),
            part: AtomicU32::new(0),
            sums: Mutex::new(sums),
        }
    }

    pub(crate) fn sums(&self) -> MutexGuard<'_, Sums> {
        // Each change is a single step, or a count.
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, id: u64, claim: &Arc<Claim>, low: u64, is_placed: bool) {
        let sum = Sum {
            claim: Arc::downgrade(claim),
            partition: claim.owned.partition.clone(),
            in_flight: InFlight::default(),
            untaken: 0,
            distance: 0,
            reached: Reached::default(),
            is_placed,
            is_closed: false,
            is_paused: false,
            low,
            version: 0,
            committed: 0,
            is_lost: false,
            is_drained: false,
        };
        let mut sums = self.sums();
        sums.of.insert(id, sum);
        sums.permits.insert(id);
        self.divide(&mut sums);
    }

    /// Forgets a claim.
    pub(crate) fn remove(&self, id: u64) {
        let mut sums = self.sums();
        sums.of.remove(&id);
        let granted = sums.permits.remove(id);
        self.divide(&mut sums);
        let granted = sums.find(granted);
        drop(sums);
        give(granted);
    }

    /// The number of claims has changed, and so have their parts.
    fn divide(&self, sums: &mut Sums) {
        // Ordering: Relaxed, a hint: who misses it keeps a little more memory.
        self.part.store(sums.of.len().next_power_of_two().ilog2(), Ordering::Relaxed);
        sums.shares.divide(sums.of.values().map(|of| of.in_flight));
        sums.look_at_all();
    }

    /// Takes what a turn of a claim has changed. Returns how many permits the claim gets.
    pub(crate) fn settle(&self, id: u64, change: Change) -> usize {
        let mut sums = self.sums();
        let (own, granted, must_wake) = sums.settle(id, change, self);
        let granted = sums.find(granted);
        drop(sums);
        if must_wake {
            self.attention.notify_one();
        }
        give(granted);
        own
    }

    /// A promise is broken.
    pub(crate) fn violate(&self, what: &str, of: Option<&TopicPartition>) {
        let line = self.sums().figures.violate(what, of);
        say(line);
        self.attention.notify_one();
    }

    /// The consumer is to stop.
    pub(crate) fn fail(&self, error: ConsumerError) {
        self.sums().failure.get_or_insert(error);
        self.attention.notify_one();
    }

    /// A claim knows its place, and has told where that is.
    pub(crate) fn note_placed(&self, id: u64) {
        let mut sums = self.sums();
        sums.of.get_mut(&id).into_iter().for_each(|sum| sum.is_placed = true);
        sums.look_for_news();
        drop(sums);
        self.attention.notify_one();
    }

    /// Keeps an empty vector for the source.
    pub(crate) fn give_back(&self, records: Vec<Record>) {
        let mut sums = self.sums();
        if sums.spare.len() < SPARE && records.capacity() > 0 {
            sums.spare.push(records);
        }
    }
}

impl Sums {
    fn settle(&mut self, id: u64, change: Change, shared: &Shared) -> (usize, Granted, bool) {
        let Change { counts, less, taken, distance, low, version, is_drained, back, wanted } =
            change;
        self.done_since += counts.done as usize;
        self.figures.counts.add(counts);
        let Some(sum) = self.of.get_mut(&id) else { return (0, Vec::new(), false) };
        self.shares.subtract(&mut sum.in_flight, less);
        sum.untaken -= taken;
        (sum.distance, sum.version, sum.is_drained) = (distance, version, is_drained);
        let has_moved = mem::replace(&mut sum.low, low) != low;
        let is_news = sum.has_news() && !mem::replace(&mut self.has_news, true);
        self.look_at(id);
        let (own, granted) = self.permits.settle(id, back, wanted);
        // Ordering: Relaxed, the lock orders it: who takes a part out of an inbox settles behind that.
        let is_heard = shared.unheard.load(Ordering::Relaxed) <= BEHIND / 2;
        let is_behind_no_more = is_heard && mem::take(&mut self.is_behind);
        let must_wake = is_drained
            || is_news
            || is_behind_no_more
            || (has_moved && self.has_waits)
            || self.done_since >= self.settings.commit_after
            || !self.pauses.is_empty();
        (own, granted, must_wake)
    }

    fn find(&self, granted: Granted) -> Vec<(Arc<Claim>, usize)> {
        // A claim lives as long as what the driver knows of it.
        let claim = |id| self.of.get(&id).and_then(|of| of.claim.upgrade());
        granted.into_iter().filter_map(|(id, granted)| Some((claim(id)?, granted))).collect()
    }

    /// Looks whether some claim has more to say than at its last commit.
    pub(crate) fn look_for_news(&mut self) {
        self.has_news = self.of.values().any(Sum::has_news);
    }
}

/// Tells claims that they got permits.
fn give(granted: Vec<(Arc<Claim>, usize)>) {
    for (claim, permits) in granted {
        claim.post(move |claimed, claim| claimed.take_permits(claim, permits));
    }
}
