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
use super::failure::ConsumerError;
use super::figures::Figures;
use super::lane::{Lane, Phase};
use super::options::Settings;
use super::place::Begin;
use super::run::Run;
use super::seek::Seek;
use super::shares::{InFlight, Shares};
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

/// Starts runs.
pub(crate) trait Launch: Send + Sync {
    fn launch(self: Arc<Self>, state: &ColorCell<State>, run: Run) -> JoinHandle<()>;
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
    pub(crate) ready: VecDeque<(u64, usize)>,
    /// Who wants to go elsewhere, and the claims that this has begun.
    pub(crate) seeks: VecDeque<Seek>,
    pub(crate) begins: Vec<Begin>,
    /// Whether a claim may wait for its place.
    pub(crate) has_unplaced: bool,
    /// Topics that are paused by hand.
    pub(crate) held_topics: BTreeSet<Arc<str>>,
    /// Empty vectors of runs that have ended, for runs that get some of many records.
    pub(crate) spare: Vec<Vec<Record>>,
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
    pub(crate) fn new(settings: Arc<Settings>, launcher: Weak<dyn Launch>) -> State {
        State {
            shares: Shares::new(&settings),
            settings,
            launcher,
            claims: BTreeMap::new(),
            ids: HashMap::new(),
            next_id: 0,
            ready: VecDeque::new(),
            spare: Vec::new(),
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

    /// Takes records that were read. The reader goes on at `next`, and the log ends at `end`.
    pub(crate) fn accept(
        &mut self,
        cell: &ColorCell<State>,
        owned: &Owned,
        mut records: Vec<Record>,
        (mut next, mut end): (u64, u64),
    ) {
        let is_begun = |id: &u64| !self.claims[id].awaits_begin;
        let Some(id) = self.active(owned).filter(is_begun) else {
            self.figures.stale += records.len() as u64;
            return;
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
        let woken = self.take_records(id, records, now);
        let claimed = self.claims.get_mut(&id).expect("it is active");
        if claimed.tracker.pass(next) {
            self.note_news(id);
        }
        self.look_at(id);
        for at in woken {
            self.schedule(cell, id, at);
        }
        self.pump(cell, now);
        self.look_at_waits();
    }

    /// Puts records into their lanes. Returns the lanes that are to be put in line.
    fn take_records(&mut self, id: u64, records: Vec<Record>, now: Instant) -> Vec<usize> {
        let claimed = self.claims.get_mut(&id).expect("it is active");
        let (mut woken, mut accepted) = (Vec::new(), InFlight::default());
        for record in records {
            match claimed.tracker.accept(record.offset) {
                Accepted::New => {}
                Accepted::Done => {
                    claimed.advance(1, now);
                    self.has_news = true;
                    self.figures.skipped += 1;
                    continue;
                }
                Accepted::Stale => {
                    self.figures.stale += 1;
                    continue;
                }
            }
            accepted.records += 1;
            accepted.bytes += record.size();
            let at = claimed.lane_of(&record, &self.settings, now);
            let lane = &mut claimed.lanes[at];
            lane.push(record);
            let is_full = lane.pending.len() >= self.settings.batch.0 || lane.is_alone();
            if lane.phase == Phase::Idle {
                lane.stop_timer();
                (lane.phase, lane.since) = (Phase::New, now);
            }
            if lane.phase == Phase::New || (lane.phase == Phase::Filling && is_full) {
                woken.push(at);
                if is_full {
                    lane.stop_timer();
                    lane.phase = Phase::Ready;
                } else {
                    lane.phase = Phase::Filling;
                }
            }
        }
        self.shares.add(&mut claimed.in_flight, accepted);
        woken
    }

    /// Puts a lane in line, or begins the time of its batch.
    fn schedule(&mut self, cell: &ColorCell<State>, id: u64, at: usize) {
        let time = self.settings.batch.1;
        let lane = &mut self.claims.get_mut(&id).expect("it has the lane").lanes[at];
        match lane.phase {
            Phase::Ready => self.ready.push_back((id, at)),
            Phase::Filling if lane.task.is_none() => {
                lane.task = Some(wake_later(cell, id, at, Phase::Filling, time));
            }
            _ => {}
        }
    }

    /// The time of a batch or of a retry is over.
    fn wake(&mut self, cell: &ColorCell<State>, id: u64, at: usize, from: Phase) {
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
        while self.runs < self.settings.concurrency {
            let Some((id, at)) = self.ready.pop_front() else { return };
            self.start(cell, id, at, now);
        }
    }

    fn start(&mut self, cell: &ColorCell<State>, id: u64, at: usize, now: Instant) {
        let Some(claimed) = self.claims.get_mut(&id) else { return };
        if claimed.stage != Stage::Active {
            return;
        }
        if claimed.is_held {
            return claimed.parked.push(at);
        }
        let claimed = self.claims.get(&id).expect("it is there");
        let Some(launcher) = self.launcher.upgrade() else { return };
        let is_ready = |lane: &&Lane| lane.phase == Phase::Ready;
        let Some(lane) = claimed.lanes.get(at).filter(is_ready) else { return };
        let Some(first) = lane.pending.front().map(|record| record.offset) else { return };
        let may_start = self.may_start(id, claimed, first);
        if !may_start {
            let claimed = self.claims.get_mut(&id).expect("it was there");
            let lane = &mut claimed.lanes[at];
            lane.phase = Phase::Held;
            claimed.held.insert(first, at);
            self.figures.held += 1;
            // If it was the last one to try, the lowest may go on now, and perhaps no report will come to release it.
            self.release_held(id);
            return;
        }
        let rate = self.settings.rate.filter(|_| lane.has_rate());
        let most = self.most_of(lane);
        let Some(most) = self.room_of(cell, (id, at), rate, most, now) else {
            // As above.
            return self.release_held(id);
        };
        let claimed = self.claims.get_mut(&id).expect("it was there");
        let lane = &mut claimed.lanes[at];
        let mut count = 0;
        for record in lane.pending.iter().take(most) {
            let offset = record.offset;
            if offset != first && !claimed.tracker.may_start(offset, false) {
                break;
            }
            let is_its_turn = claimed.tracker.start(offset) && offset >= lane.next;
            self.figures.check_order(is_its_turn, &claimed.owned, offset);
            lane.next = offset + 1;
            count += 1;
        }
        let records = lane.take(count, &mut self.spare);
        if let Some(rate) = rate {
            rate.take(lane, count, now);
        }
        lane.running = Some(first);
        self.figures.waited += now.saturating_duration_since(lane.since);
        (lane.phase, lane.since, lane.is_reported) = (Phase::Running, now, false);
        let (attempts, dead, color) = (lane.attempts, lane.dead.take(), lane.color);
        let claim = Arc::clone(&claimed.claim);
        let run = Run { id, lane: at, claim, color, records, attempts, dead };
        lane.task = Some(launcher.launch(cell, run));
        claimed.runs += 1;
        self.runs += 1;
        self.figures.runs += 1;
    }

    /// How many records the next run of a lane has at most.
    fn most_of(&self, lane: &Lane) -> usize {
        let most = match self.settings.batch.0 {
            most if most > 1 => most,
            // Each begins when it is counted.
            _ if self.settings.rate.is_some() => 1,
            _ => RUN,
        };
        // Those behind what is given up are called, and counted, in a later run.
        lane.dead.as_ref().map_or(most, |dead| dead.count.min(most))
    }

    /// Whether the first record of a lane may start, which is in no queue.
    fn may_start(&self, id: u64, claimed: &Claimed, offset: u64) -> bool {
        let is_lowest = || {
            let is_below_held = claimed.held.first_key_value().is_none_or(|(of, _)| offset <= *of);
            is_below_held && self.ready.iter().all(|(other, _)| *other != id)
        };
        let tracker = &claimed.tracker;
        tracker.may_start(offset, false) || (tracker.may_start(offset, true) && is_lowest())
    }

    /// Lets lanes start that were held, the lowest first: the record at the low-water mark may always.
    pub(crate) fn release_held(&mut self, id: u64) {
        while let Some(claimed) = self.claims.get(&id)
            && let Some((&offset, &at)) = claimed.held.first_key_value()
            && self.may_start(id, claimed, offset)
        {
            let claimed = self.claims.get_mut(&id).expect("it is there");
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

/// Wakes a lane after some time.
pub(crate) fn wake_later(
    cell: &ColorCell<State>,
    id: u64,
    at: usize,
    from: Phase,
    time: Duration,
) -> JoinHandle<()> {
    let state = cell.clone();
    colored::spawn_colored(cell.color(), async move {
        sleep_until(after(Instant::now(), time)).await;
        state.with(|own| own.wake(&state, id, at, from));
    })
}
