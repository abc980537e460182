//! How the records of a claim come to their handlers: into lanes, in line, and into runs.

use super::claimed::Claimed;
use super::clock::after;
use super::contain::drop_each;
use super::context::{Claim, HANDS};
use super::kept::{Kept, Records};
use super::lane::{Lane, Phase};
use super::options::Settings;
use super::run::{Launch, Run};
use crate::progress::Accepted;
use crate::source::Record;
use colored::JoinHandle;
use colored::time::{Duration, Instant, sleep_until};
use std::sync::Arc;

/// How many records a run has at most. A guess: the report of a run is shared by so many, and a key that runs holds its
/// place for as long.
pub(crate) const RUN: usize = 64;

/// Runs of fewer records get a vector of their own: so small ones an allocator has at hand.
const SHORT: usize = 8;

impl Claimed {
    /// Takes records that were read. The reader goes on at `next`, and the log ends at `end`.
    pub(crate) fn accept(
        &mut self,
        claim: &Arc<Claim>,
        mut records: Vec<Record>,
        (next, end): (u64, u64),
    ) {
        let now = Instant::now();
        self.log_end = end;
        if self.tracker.unfinished() == 0 {
            self.low_since = now;
        }
        self.taken += records.len();
        let filling = self.take_records(&mut records, now);
        self.shared.give_back(records);
        if self.tracker.pass(next) {
            self.advance(1, now);
        }
        for at in filling {
            self.await_batch(claim, at);
        }
        self.end_turn(claim, now);
    }

    /// Puts records into their lanes, and these in line. Returns those that wait for a full batch.
    fn take_records(&mut self, records: &mut Vec<Record>, now: Instant) -> Vec<u32> {
        let settings = Arc::clone(&self.settings);
        let (mut filling, mut done) = (Vec::new(), 0);
        for record in records.drain(..) {
            match self.tracker.accept(record.offset) {
                Accepted::New => {}
                known => {
                    self.less.records += 1;
                    self.less.bytes += record.size();
                    match known {
                        Accepted::Done => done += 1,
                        _ => self.counts.stale += 1,
                    }
                    drop_each(Some(record));
                    continue;
                }
            }
            let at = self.lane_of(&record, &settings, now);
            let lane = &mut self.lanes[at];
            if lane.first().is_none() {
                lane.first = record.offset;
            }
            lane.pending.push(&mut self.waiting, Kept::new(record));
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
                self.ready.push_back(at);
            } else if lane.phase == Phase::New {
                lane.phase = Phase::Filling;
                filling.push(at);
            }
        }
        self.advance(done, now);
        self.counts.skipped += done;
        filling
    }

    /// Begins the time of a lane's batch, unless it became full meanwhile.
    fn await_batch(&mut self, claim: &Arc<Claim>, at: u32) {
        let time = self.settings.batch.1;
        let lane = &mut self.lanes[at];
        if lane.phase == Phase::Filling && lane.task.is_none() {
            lane.task = Some(wake_later(claim, at, Phase::Filling, time));
        }
    }

    /// The time of a batch or of a retry is over.
    fn wake(&mut self, claim: &Arc<Claim>, at: u32, from: Phase) {
        if let Some(lane) = self.lanes.get_mut(at).filter(|lane| lane.phase == from) {
            lane.task = None;
            if from == Phase::Idle {
                return self.remove_lane(at);
            }
            let now = Instant::now();
            if matches!(from, Phase::Postponed | Phase::Slowed) {
                // It waits for its turn from now on.
                lane.since = now;
            }
            lane.phase = Phase::Ready;
            self.ready.push_back(at);
            self.end_turn(claim, now);
        }
    }

    /// So many more runs may start.
    pub(crate) fn take_permits(&mut self, claim: &Arc<Claim>, permits: usize) {
        let now = Instant::now();
        self.permits += permits;
        self.pump(claim, now);
        self.end_turn(claim, now);
    }

    /// The pause of the topic has ended: lanes whose turn has come are in line again.
    pub(crate) fn unpark(&mut self, claim: &Arc<Claim>) {
        self.ready.extend(self.parked.drain(..));
        self.end_turn(claim, Instant::now());
    }

    /// Starts runs, as many as there are permits.
    pub(crate) fn pump(&mut self, claim: &Arc<Claim>, now: Instant) {
        let Some(launcher) = self.launcher.upgrade() else { return self.ready.clear() };
        while self.permits > 0
            && let Some(at) = self.ready.pop_front()
        {
            self.start(claim, &launcher, at, now);
        }
    }

    fn start(&mut self, claim: &Arc<Claim>, launcher: &Arc<dyn Launch>, at: u32, now: Instant) {
        if claim.is_revoked() {
            // Its end is posted.
            return;
        }
        if claim.is_held() {
            return self.parked.push(at);
        }
        let is_ready = |lane: &&Lane| lane.phase == Phase::Ready;
        let Some(first) = self.lanes.get(at).filter(is_ready).and_then(Lane::first) else { return };
        let Some(hand) = self.hands[at as usize % HANDS].upgrade() else { return };
        if !self.may_start(first) {
            self.lanes[at].phase = Phase::Held;
            self.held.insert(first, at);
            self.counts.held += 1;
            // If it was the last one to try, the lowest may go on now, and perhaps no report will come to release it.
            return self.release_held();
        }
        let lane = &mut self.lanes[at];
        let mut most = most_of(&self.settings, lane);
        let rate = self.settings.rate.filter(|_| lane.has_rate());
        if let Some(rate) = rate {
            match rate.room(lane, now) {
                Ok(room) => most = most.min(room),
                Err(wait) => {
                    self.counts.slowed += 1;
                    lane.phase = Phase::Slowed;
                    lane.task = Some(wake_later(claim, at, Phase::Slowed, wait));
                    // As above.
                    return self.release_held();
                }
            }
        }
        let records = self.begin_records(at, most);
        let lane = &mut self.lanes[at];
        if let Some(rate) = rate {
            rate.take(lane, records.as_slice().len(), now);
        }
        self.counts.waited += now.saturating_duration_since(lane.since);
        self.counts.runs += 1;
        (lane.phase, lane.since, lane.is_reported) = (Phase::Running, now, false);
        let (attempts, dead, color) = (lane.attempts, lane.dead.take(), lane.color);
        let run = Run { lane: at, color, records, done: 0, attempts, dead_letters: 0, dead };
        lane.task = Some(Arc::clone(launcher).launch(hand, boxed(run, &mut self.spare_runs)));
        self.runs += 1;
        self.permits -= 1;
    }

    /// The first records of a lane begin, at most so many: the first of them may.
    fn begin_records(&mut self, at: u32, most: usize) -> Records {
        let Claimed { lanes, tracker, owned, waiting, spare, shared, .. } = self;
        let lane = &mut lanes[at];
        let most = lane.pending.len().min(most);
        let mut records = if most > 1 { vector_for(most, spare) } else { Vec::new() };
        while let Some(record) = lane.pending.pop(waiting) {
            let offset = record.offset;
            let is_its_turn = tracker.start(offset) && offset >= lane.next;
            shared.check_order(is_its_turn, owned, offset);
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

    /// Whether the first record of a lane may start, which is in no queue.
    fn may_start(&mut self, offset: u64) -> bool {
        let Claimed { held, tracker, ready, .. } = self;
        let is_lowest =
            || ready.is_empty() && held.first_key_value().is_none_or(|(of, _)| offset <= *of);
        tracker.may_start(offset, false) || (tracker.may_start(offset, true) && is_lowest())
    }

    /// Lets lanes start that were held, the lowest first: the record at the low-water mark may always.
    pub(crate) fn release_held(&mut self) {
        while let Some((&offset, &at)) = self.held.first_key_value()
            && self.may_start(offset)
        {
            self.held.remove(&offset);
            self.lanes[at].phase = Phase::Ready;
            // It is the oldest.
            self.ready.push_front(at);
        }
    }
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

/// Wakes a lane after some time.
pub(crate) fn wake_later(
    claim: &Arc<Claim>,
    at: u32,
    from: Phase,
    time: Duration,
) -> JoinHandle<()> {
    let own = Arc::clone(claim);
    colored::spawn_colored(claim.cell.color(), async move {
        sleep_until(after(Instant::now(), time)).await;
        own.cell.with(|claimed| claimed.contain_turn(|claimed| claimed.wake(&own, at, from)));
    })
}

#[cfg(test)]
mod tests {
    use super::super::context::{Context, ask_all};
    use super::super::failure::Failure;
    use super::super::run::Common;
    use super::super::shared::Shared;
    use super::super::state::State;
    use super::super::work::Each;
    use super::*;
    use crate::progress::Tracker;
    use crate::source::{Extent, Owned, TopicPartition};
    use std::future::{Ready, ready};

    type Handler = fn(Record, Context) -> Ready<Result<(), Failure>>;

    /// What was posted before the end of a claim that is to go comes first: nothing starts by it.
    #[colored::test]
    async fn nothing_starts_of_a_claim_that_is_to_go() {
        let settings = Arc::<Settings>::default();
        let shared = Arc::new(Shared::new(Arc::clone(&settings)));
        let work: Each<Handler> = Each(|_, _| ready(Ok(())));
        let (all, with) = (Arc::clone(&settings), Arc::clone(&shared));
        let common: Arc<dyn Launch> =
            Arc::new(Common { work, dead_letters: None, settings: all, shared: with });
        let mut state = State::new(settings, Arc::downgrade(&common), Arc::clone(&shared));
        let partition = TopicPartition { topic: "t".into(), partition: 0 };
        let owned = Owned { partition, generation: 1 };
        let log = Extent::default();
        let id = state.insert(owned.clone(), Tracker::new(0, Vec::new()), &log, false, None);
        let claim = Arc::clone(&state.claims[&id].claim);
        for (offset, has_runs) in [(0, true), (1, false)] {
            if !has_runs {
                claim.revoke();
            }
            let record = Record {
                topic: "t".into(),
                partition: 0,
                offset,
                timestamp: 0,
                key: None,
                value: None,
                headers: Vec::new(),
            };
            state.accept(&owned, vec![record], (offset + 1, 2));
            ask_all([Arc::clone(&claim)], |of, claim| of.end_turn(claim, Instant::now())).await;
            assert_eq!(shared.sums().figures.counts.runs, 1, "{has_runs}");
        }
    }
}
