//! What runs report: records that are done, and how each run has ended.

use super::claimed::{Claimed, Stage};
use super::contain::{contain, drop_each};
use super::failure::ConsumerError;
use super::kept::{Kept, Records};
use super::lane::Phase;
use super::pauses::BEHIND;
use super::run::{End, Letter, Run, Told};
use super::shares::InFlight;
use super::state::{RUN, State, wake_later};
use super::waiting::Waiting;
use colored::ColorCell;
use colored::time::Instant;
use std::mem;

/// So many vectors are kept for later runs. A guess: together they have at most a quarter of a mebibyte.
const SPARE: usize = 16;

/// So many boxes of runs are kept. A guess: as many runs as there are at a time by default.
const SPARE_RUNS: usize = 256;

impl State {
    /// Hears what runs have told, a part of it if that is much.
    pub(crate) fn hear(&mut self, cell: &ColorCell<State>) {
        if self.hear_part(cell) {
            let again = cell.clone();
            cell.post(move |state| state.hear(&again));
        }
    }

    /// Hears all that runs have told before the call. Others go on meanwhile, so the inbox may never be empty.
    pub(crate) fn hear_all(&mut self, cell: &ColorCell<State>) {
        for _ in 0..self.inbox.parts() {
            self.hear_part(cell);
        }
    }

    /// Returns whether there is more.
    fn hear_part(&mut self, cell: &ColorCell<State>) -> bool {
        let Some(mut letters) = self.inbox.take() else { return false };
        let (now, mut last) = (Instant::now(), None);
        let mut told = letters.drain(..);
        // A turn that does not come to its end would leave letters unheard, and nobody would post the next one.
        while let Err(panic) = contain(|| {
            told.by_ref().for_each(|letter| self.hear_one(cell, letter, now, &mut last));
        }) {
            self.figures.violate(&panic, None);
        }
        drop(told);
        last.into_iter().for_each(|id| self.call_driver(id));
        self.look_at_waits();
        self.waiting.shrink();
        let left = self.inbox.give_back(letters);
        // Others go on meanwhile, so it may never be empty.
        if left <= BEHIND / 2 && mem::take(&mut self.is_behind) {
            // The source may be read again.
            self.attention.notify_one();
        }
        left > 0
    }

    fn hear_one(
        &mut self,
        cell: &ColorCell<State>,
        (id, at, told): Letter,
        now: Instant,
        last: &mut Option<u64>,
    ) {
        match told {
            Told::Progress(done, next) => self.progress((id, at), done, next, now),
            Told::Burial => self.begin_burial(id, at),
            Told::FailedLetter(text) => self.figures.count_failed_letter(&text),
            Told::End(run, end) => self.end_run(cell, run, end, now),
        }
        // For each: one that is held by the map may start for each that ends.
        self.release_held(id);
        self.pump(cell, now);
        if let Some(other) = last.replace(id).filter(|other| *other != id) {
            self.call_driver(other);
        }
    }

    /// The first records of a run are done, and it goes on with the record at `next`.
    fn progress(&mut self, (id, at): (u64, u32), done: Vec<Kept>, next: u64, now: Instant) {
        self.complete(id, Records::Many(done), now);
        if let Some(claimed) = self.claims.get_mut(&id) {
            let lane = &mut claimed.lanes[at];
            (lane.first, lane.is_burying) = (next, false);
            lane.attempts = 0;
        }
    }

    /// A run has ended.
    fn end_run(&mut self, cell: &ColorCell<State>, mut run: Box<Run>, end: End, now: Instant) {
        let (id, at, done) = (run.id, run.lane, run.done());
        let mut records = mem::take(&mut run.records);
        let rest = records.split_off(done);
        let (attempts, dead) = (run.attempts, run.dead.take());
        let dead_letters = u64::from(run.dead_letters);
        if self.spare_runs.len() < SPARE_RUNS {
            self.spare_runs.push(run);
        }
        let retries = u64::from(matches!(end, End::Retry(_)) && dead.is_none());
        self.figures.postponed += u64::from(matches!(end, End::Later(_)));
        self.figures.dead_letters += dead_letters;
        self.figures.retries += retries;
        self.complete(id, records, now);
        let Some(claimed) = self.claims.get_mut(&id) else { return drop_each(rest) };
        claimed.retries += retries;
        claimed.dead_letters += dead_letters;
        self.runs -= 1;
        claimed.runs -= 1;
        let is_active = claimed.stage == Stage::Active;
        let lane = &mut claimed.lanes[at];
        self.figures.handled += now.saturating_duration_since(lane.since);
        (lane.task, lane.since) = (None, now);
        (lane.phase, lane.is_burying) = (Phase::Ready, false);
        // A call that has failed counts against the rate.
        let rate = self.settings.rate.filter(|_| matches!(end, End::Finished));
        if let Some(rate) = rate {
            rate.give_back(lane, rest.len());
        }
        if is_active {
            claimed.put_back(at, rest, &mut self.waiting);
        } else {
            let bytes = rest.iter().map(Kept::size).sum();
            self.shares.subtract(&mut claimed.in_flight, InFlight { records: rest.len(), bytes });
            drop_each(rest);
        }
        let lane = &mut claimed.lanes[at];
        // They were those of a record that is done.
        lane.attempts = if done > 0 { 0 } else { lane.attempts };
        match end {
            End::Later(time) if is_active => {
                lane.phase = Phase::Postponed;
                lane.task = Some(wake_later(cell, id, at, Phase::Postponed, time));
            }
            End::Retry(after) if is_active => {
                let delay = dead.as_ref().map_or(attempts, |dead| dead.failures);
                let delay = after.unwrap_or_else(|| self.settings.delay(delay));
                (lane.attempts, lane.dead) = (attempts, dead);
                lane.phase = Phase::BackingOff;
                lane.task = Some(wake_later(cell, id, at, Phase::BackingOff, delay));
            }
            End::Fatal(text) => self.fail(ConsumerError::Fatal(text)),
            _ if lane.pending.len() == 0 => self.end_lane(cell, id, at, now),
            _ => self.ready.push_back((id, at)),
        }
    }

    /// A run gives its next record to the dead letters.
    fn begin_burial(&mut self, id: u64, at: u32) {
        let lane = self.claims.get_mut(&id).and_then(|claimed| claimed.lanes.get_mut(at));
        lane.into_iter().for_each(|lane| lane.is_burying = true);
    }

    /// Records are done. They are dropped here, where most were made: an allocator does that faster than elsewhere.
    fn complete(&mut self, id: u64, records: Records, now: Instant) {
        let Some(claimed) = self.claims.get_mut(&id) else {
            // Every run ends before its claim leaves.
            self.figures.violate("an effect after the partition had gone", None);
            return self.drop_records(records);
        };
        let (low, count) = (claimed.tracker.low(), records.as_slice().len());
        let mut bytes = 0;
        for record in records.as_slice() {
            let was_started = claimed.tracker.complete(record.offset);
            self.figures.check_order(was_started, &claimed.owned, record.offset);
            bytes += record.size();
        }
        if claimed.tracker.low() > low {
            claimed.low_since = now;
        }
        claimed.advance(count as u64, now);
        if count > 0 && !mem::replace(&mut self.has_news, true) {
            // The driver does not know yet that a commit is due.
            self.attention.notify_one();
        }
        self.done_since += count;
        self.figures.done += count as u64;
        self.shares.subtract(&mut claimed.in_flight, InFlight { records: count, bytes });
        self.drop_records(records);
    }

    fn drop_records(&mut self, records: Records) {
        match records {
            Records::One(record) => drop_each(Some(record)),
            Records::Many(mut records) => {
                drop_each(records.drain(..));
                if self.spare.len() < SPARE && records.capacity() == RUN {
                    self.spare.push(records);
                }
            }
        }
    }
}

impl Claimed {
    /// Records of a run that are not done are the first of their lane again.
    fn put_back(&mut self, at: u32, records: Vec<Kept>, waiting: &mut Waiting) {
        let lane = &mut self.lanes[at];
        if let Some(first) = records.first() {
            lane.next = first.offset;
        }
        for record in records.into_iter().rev() {
            self.tracker.put_back(record.offset);
            lane.pending.push_front(waiting, record);
        }
        lane.first = lane.pending.first(waiting).unwrap_or(lane.first);
    }
}
