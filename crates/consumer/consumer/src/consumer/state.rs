//! The state of a consumer. It belongs to one color: the driver, the reports of the runs and the timers use it one after
//! the other, so it needs no lock.
//!
//! Invariants:
//!
//! * A lane has one run at most, and a run has the first records of its lane: so the records of a key are handled in their
//!   order, and none begins before the one before it is done.
//! * The shares count exactly what was accepted and is neither done nor forgotten.
//! * Every report carries the number of its claim. A claim leaves only when all its runs have ended, so a report of
//!   another owner's time finds nothing.

use super::caught_up::Waits;
use super::claimed::{Claimed, Stage};
use super::clock::after;
use super::context::HANDS;
use super::failure::ConsumerError;
use super::figures::Figures;
use super::kept::{Kept, Records};
use super::lane::{Lane, Phase};
use super::options::Settings;
use super::place::Begin;
use super::run::{Inbox, Run};
use super::seek::Seek;
use super::shares::{InFlight, Shares};
use super::waiting::Waiting;
use crate::progress::Accepted;
use crate::source::{Owned, Record, TopicPartition};
use colored::sync::Notify;
use colored::time::{Duration, Instant, sleep_until};
use colored::{ColorCell, JoinHandle};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Weak};

/// How many records a run has at most. A guess: the report of a run is shared by so many, and a key that runs holds its
/// place for as long.
pub(crate) const RUN: usize = 64;

/// Runs of fewer records get a vector of their own: so small ones an allocator has at hand.
const SHORT: usize = 8;

/// Starts runs.
pub(crate) trait Launch: Send + Sync {
    fn launch(self: Arc<Self>, run: Box<Run>) -> JoinHandle<()>;
}

/// What belongs to the color of the consumer.
pub(crate) struct State {
    pub(crate) settings: Arc<Settings>,
    /// The driver has it: when that is gone, nothing starts.
    launcher: Weak<dyn Launch>,
    pub(crate) claims: BTreeMap<u64, Claimed>,
    /// The newest claim of each partition and generation.
    ids: HashMap<Owned, u64>,
    next_id: u64,
    /// Lanes that wait for their turn, with their claims.
    pub(crate) ready: VecDeque<(u64, u32)>,
    /// Who wants to go elsewhere, and the claims that this has begun.
    pub(crate) seeks: VecDeque<Seek>,
    pub(crate) begins: Vec<Begin>,
    /// Whether a claim may wait for its place.
    pub(crate) has_unplaced: bool,
    /// Topics that are paused by hand.
    pub(crate) held_topics: BTreeSet<Arc<str>>,
    /// Records that have not started, of all lanes.
    pub(crate) waiting: Waiting,
    /// Of runs that have ended, for other runs: empty vectors, and boxes.
    pub(crate) spare: Vec<Vec<Kept>>,
    #[allow(clippy::vec_box, reason = "the boxes are what is used again")]
    pub(crate) spare_runs: Vec<Box<Run>>,
    /// What runs have told.
    pub(crate) inbox: Arc<Inbox>,
    /// Whether the source is not read until half of it, or less, is left.
    pub(crate) is_behind: bool,
    /// Runs under way, without those that back off.
    pub(crate) runs: usize,
    pub(crate) shares: Shares,
    /// Partitions that the source is to pause, or to resume, in this order.
    pub(crate) pauses: Vec<(TopicPartition, bool)>,
    /// Whether a claim is not active.
    pub(crate) has_ending: bool,
    /// Whether a claim may have more to say than at its last commit.
    pub(crate) has_news: bool,
    /// Whether a claim may wait until its partition is read again.
    pub(crate) has_trouble: bool,
    /// Who waits until the consumer has caught up. None if it has ended.
    pub(crate) waits: Option<Waits>,
    /// Records that are done since the last commit.
    pub(crate) done_since: usize,
    pub(crate) figures: Figures,
    /// Wakes the driver.
    pub(crate) attention: Arc<Notify>,
    pub(crate) failure: Option<ConsumerError>,
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
        inbox: Arc<Inbox>,
    ) -> State {
        State {
            shares: Shares::new(&settings),
            settings,
            launcher,
            claims: BTreeMap::new(),
            ids: HashMap::new(),
            next_id: 0,
            ready: VecDeque::new(),
            waiting: Waiting::default(),
            spare: Vec::new(),
            spare_runs: Vec::new(),
            inbox,
            is_behind: false,
            seeks: VecDeque::new(),
            begins: Vec::new(),
            has_unplaced: false,
            held_topics: BTreeSet::new(),
            runs: 0,
            pauses: Vec::new(),
            has_ending: false,
            has_news: false,
            has_trouble: false,
            waits: Some(Waits::default()),
            done_since: 0,
            figures: Figures::default(),
            attention: Arc::new(Notify::new()),
            failure: None,
        }
    }

    pub(crate) fn insert(&mut self, claimed: Claimed) -> u64 {
        self.next_id += 1;
        self.ids.insert(claimed.owned.clone(), self.next_id);
        self.claims.insert(self.next_id, claimed);
        self.hold_claims();
        self.divide();
        self.look_at_waits();
        self.next_id
    }

    /// The active claim of a partition.
    pub(crate) fn active(&self, owned: &Owned) -> Option<u64> {
        let id = self.ids.get(owned).copied();
        id.filter(|id| self.claims.get(id).is_some_and(Claimed::is_active))
    }

    /// Takes records that were read, out of their vector. The reader goes on at `next`, and the log ends at `end`.
    pub(crate) fn accept(
        &mut self,
        cell: &ColorCell<State>,
        owned: &Owned,
        records: &mut Vec<Record>,
        (mut next, mut end): (u64, u64),
    ) {
        let is_begun = |id: &u64| !self.claims[id].awaits_begin;
        let Some(id) = self.active(owned).filter(is_begun) else {
            self.figures.stale += records.len() as u64;
            return records.clear();
        };
        if let Some(until) = self.claims[&id].until {
            records.retain(|record| record.offset < until);
            (next, end) = (next.min(until), end.min(until));
        }
        let now = Instant::now();
        self.figures.polled += records.len() as u64;
        let claimed = self.claims.get_mut(&id).expect("it is active");
        claimed.log_end = end;
        claimed.trouble.end();
        if claimed.in_flight.records == 0 {
            claimed.low_since = now;
        }
        let filling = self.take_records(id, records, now);
        let claimed = self.claims.get_mut(&id).expect("it is active");
        if claimed.tracker.pass(next) {
            self.note_news(id);
        }
        self.look_at(id);
        for at in filling {
            self.await_batch(cell, id, at);
        }
        self.pump(cell, now);
        self.look_at_waits();
    }

    /// Puts records into their lanes, and these in line. Returns those that wait for a full batch.
    fn take_records(&mut self, id: u64, records: &mut Vec<Record>, now: Instant) -> Vec<u32> {
        let State { claims, settings, figures, shares, ready, waiting, .. } = self;
        let claimed = claims.get_mut(&id).expect("it is active");
        let (mut filling, mut accepted, mut done) = (Vec::new(), InFlight::default(), 0);
        for record in records.drain(..) {
            match claimed.tracker.accept(record.offset) {
                Accepted::New => {}
                Accepted::Done => {
                    done += 1;
                    continue;
                }
                Accepted::Stale => {
                    figures.stale += 1;
                    continue;
                }
            }
            accepted.records += 1;
            accepted.bytes += record.size();
            let at = claimed.lane_of(&record, settings, now);
            let lane = &mut claimed.lanes[at];
            if lane.first().is_none() {
                lane.first = record.offset;
            }
            lane.pending.push(waiting, Kept::new(record));
            if !matches!(lane.phase, Phase::Idle | Phase::New | Phase::Filling) {
                continue;
            }
            let is_full = lane.pending.len() >= settings.batch.0 || lane.is_alone();
            if lane.phase == Phase::Idle {
                lane.stop_timer();
                (lane.phase, lane.since) = (Phase::New, now);
            }
            if is_full {
                lane.stop_timer();
                lane.phase = Phase::Ready;
                ready.push_back((id, at));
            } else if lane.phase == Phase::New {
                lane.phase = Phase::Filling;
                filling.push(at);
            }
        }
        shares.add(&mut claimed.in_flight, accepted);
        if done > 0 {
            claimed.advance(done, now);
            figures.skipped += done;
            self.has_news = true;
        }
        filling
    }

    /// Begins the time of a lane's batch, unless it became full meanwhile.
    fn await_batch(&mut self, cell: &ColorCell<State>, id: u64, at: u32) {
        let time = self.settings.batch.1;
        let lane = &mut self.claims.get_mut(&id).expect("it has the lane").lanes[at];
        if lane.phase == Phase::Filling && lane.task.is_none() {
            lane.task = Some(wake_later(cell, id, at, Phase::Filling, time));
        }
    }

    /// The time of a batch or of a retry is over.
    fn wake(&mut self, cell: &ColorCell<State>, id: u64, at: u32, from: Phase) {
        let Some(claimed) = self.claims.get_mut(&id) else { return };
        if let Some(lane) = claimed.lanes.get_mut(at).filter(|lane| lane.phase == from) {
            lane.task = None;
            if from == Phase::Idle {
                return claimed.remove_lane(at);
            }
            let now = Instant::now();
            if matches!(from, Phase::Postponed | Phase::Slowed) {
                // It waits for its turn from now on.
                lane.since = now;
            }
            lane.phase = Phase::Ready;
            self.ready.push_back((id, at));
            self.pump(cell, now);
        }
    }

    /// Starts runs, as many as may run at a time.
    pub(crate) fn pump(&mut self, cell: &ColorCell<State>, now: Instant) {
        if self.ready.is_empty() || self.runs >= self.settings.concurrency {
            return;
        }
        let Some(launcher) = self.launcher.upgrade() else { return };
        while self.runs < self.settings.concurrency {
            let Some((id, at)) = self.ready.pop_front() else { return };
            self.start(cell, &launcher, (id, at), now);
        }
    }

    fn start(
        &mut self,
        cell: &ColorCell<State>,
        launcher: &Arc<dyn Launch>,
        (id, at): (u64, u32),
        now: Instant,
    ) {
        let State { claims, settings, figures, ready, waiting, spare, spare_runs, .. } = self;
        let Some(claimed) = claims.get_mut(&id) else { return };
        if claimed.stage != Stage::Active {
            return;
        }
        if claimed.is_held {
            return claimed.parked.push(at);
        }
        let is_ready = |lane: &&Lane| lane.phase == Phase::Ready;
        let lane = claimed.lanes.get(at).filter(is_ready);
        let Some(first) = lane.and_then(Lane::first) else { return };
        let may_start = may_start(ready, id, claimed, first);
        let lane = &mut claimed.lanes[at];
        if !may_start {
            lane.phase = Phase::Held;
            claimed.held.insert(first, at);
            figures.held += 1;
            // If it was the last one to try, the lowest may go on now, and perhaps no report will come to release it.
            self.release_held(id);
            return;
        }
        let mut most = most_of(settings, lane);
        let rate = settings.rate.filter(|_| lane.has_rate());
        if let Some(rate) = rate {
            match rate.room(lane, now) {
                Ok(room) => most = most.min(room),
                Err(wait) => {
                    figures.slowed += 1;
                    lane.phase = Phase::Slowed;
                    lane.task = Some(wake_later(cell, id, at, Phase::Slowed, wait));
                    // As above.
                    return self.release_held(id);
                }
            }
        }
        let records = begin_records(claimed, at, most, (waiting, spare, figures));
        let lane = &mut claimed.lanes[at];
        if let Some(rate) = rate {
            rate.take(lane, records.as_slice().len(), now);
        }
        figures.waited += now.saturating_duration_since(lane.since);
        figures.runs += 1;
        (lane.phase, lane.since, lane.is_reported) = (Phase::Running, now, false);
        let (attempts, dead, color) = (lane.attempts, lane.dead.take(), lane.color);
        let claim = Arc::clone(&claimed.hands[at as usize % HANDS]);
        let (of, done, dead_letters) = (at, 0, 0);
        let run = Run { id, lane: of, claim, color, records, done, attempts, dead_letters, dead };
        lane.task = Some(Arc::clone(launcher).launch(boxed(run, spare_runs)));
        claimed.runs += 1;
        self.runs += 1;
    }

    /// Lets lanes start that were held, the lowest first: the record at the low-water mark may always.
    pub(crate) fn release_held(&mut self, id: u64) {
        let Some(claimed) = self.claims.get_mut(&id) else { return };
        while let Some((&offset, &at)) = claimed.held.first_key_value()
            && may_start(&self.ready, id, claimed, offset)
        {
            claimed.held.remove(&offset);
            claimed.lanes[at].phase = Phase::Ready;
            // It is the oldest.
            self.ready.push_front((id, at));
        }
    }

    /// Wakes the driver if there is something for it to do.
    pub(crate) fn call_driver(&mut self, id: u64) {
        self.look_at(id);
        let Some(claimed) = self.claims.get(&id) else { return };
        let has_drained = claimed.stage != Stage::Active && claimed.runs == 0;
        let is_due = self.done_since >= self.settings.commit_after;
        let must_stop = self.failure.is_some() || self.figures.has_violation();
        if has_drained || is_due || must_stop || !self.pauses.is_empty() {
            self.attention.notify_one();
        }
    }

    /// The consumer is to stop.
    pub(crate) fn fail(&mut self, error: ConsumerError) {
        self.failure.get_or_insert(error);
        self.attention.notify_one();
    }

    /// Forgets a claim whose runs have ended.
    pub(crate) fn remove(&mut self, id: u64) {
        if let Some(claimed) = self.claims.remove(&id) {
            self.runs -= claimed.runs;
            if self.ids.get(&claimed.owned) == Some(&id) {
                self.ids.remove(&claimed.owned);
            }
            self.divide();
            self.look_at_waits();
            self.attention.notify_one();
        }
    }
}

/// The first records of a lane begin, at most so many: the first of them may.
fn begin_records(
    claimed: &mut Claimed,
    at: u32,
    most: usize,
    (waiting, spare, figures): (&mut Waiting, &mut Vec<Vec<Kept>>, &mut Figures),
) -> Records {
    let Claimed { lanes, tracker, owned, .. } = claimed;
    let lane = &mut lanes[at];
    let most = lane.pending.len().min(most);
    let mut records = if most > 1 { vector_for(most, spare) } else { Vec::new() };
    while let Some(record) = lane.pending.pop(waiting) {
        let offset = record.offset;
        let is_its_turn = tracker.start(offset) && offset >= lane.next;
        figures.check_order(is_its_turn, owned, offset);
        lane.next = offset + 1;
        if most == 1 {
            return Records::One(record);
        }
        records.push(record);
        let may_start = |next: u64| tracker.may_start(next, false);
        if records.len() == most || !lane.pending.first(waiting).is_some_and(may_start) {
            break;
        }
    }
    Records::Many(records)
}

/// A run in a box, which is used again if there is one.
#[allow(clippy::vec_box, reason = "as above")]
fn boxed(run: Run, spare: &mut Vec<Box<Run>>) -> Box<Run> {
    let Some(mut used) = spare.pop() else { return Box::new(run) };
    *used = run;
    used
}

/// An empty vector for so many records of a run. Large ones are used again.
fn vector_for(records: usize, spare: &mut Vec<Vec<Kept>>) -> Vec<Kept> {
    let used = if (SHORT..=RUN).contains(&records) { spare.pop() } else { None };
    // A run that waits keeps it: but for those few, one that has a few records does not have the memory of many.
    let is_large = (RUN / 2..=RUN).contains(&records);
    used.unwrap_or_else(|| Vec::with_capacity(if is_large { RUN } else { records }))
}

/// How many records the next run of a lane has at most.
fn most_of(settings: &Settings, lane: &Lane) -> usize {
    let most = match settings.batch.0 {
        most if most > 1 => most,
        // Each begins when it is counted.
        _ if settings.rate.is_some() => 1,
        _ => RUN,
    };
    // Those behind what is given up are called, and counted, in a later run.
    lane.dead.as_ref().map_or(most, |dead| dead.count.min(most))
}

/// Whether the first record of a lane may start, which is in no queue.
fn may_start(ready: &VecDeque<(u64, u32)>, id: u64, claimed: &mut Claimed, offset: u64) -> bool {
    let Claimed { held, tracker, .. } = claimed;
    let is_lowest = || {
        let is_below_held = held.first_key_value().is_none_or(|(of, _)| offset <= *of);
        is_below_held && ready.iter().all(|(other, _)| *other != id)
    };
    tracker.may_start(offset, false) || (tracker.may_start(offset, true) && is_lowest())
}

/// Wakes a lane after some time.
pub(crate) fn wake_later(
    cell: &ColorCell<State>,
    id: u64,
    at: u32,
    from: Phase,
    time: Duration,
) -> JoinHandle<()> {
    let state = cell.clone();
    colored::spawn_colored(cell.color(), async move {
        sleep_until(after(Instant::now(), time)).await;
        state.with(|own| own.wake(&state, id, at, from));
    })
}
