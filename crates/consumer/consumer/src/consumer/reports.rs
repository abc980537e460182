//! What runs report: records that are done, and how each run has ended.

use super::claimed::{Claimed, Stage};
use super::failure::ConsumerError;
use super::lane::Phase;
use super::run::{End, Report};
use super::shares::InFlight;
use super::state::{RUN, State, wake_later};
use crate::source::Record;
use colored::ColorCell;
use colored::time::Instant;

/// So many vectors are kept for later runs. A guess: together they have at most a quarter of a mebibyte.
const SPARE: usize = 16;

impl State {
    /// The first records of a run are done, and it goes on with the record at `next`.
    pub(crate) fn progress(
        &mut self,
        cell: &ColorCell<State>,
        (id, at): (u64, usize),
        done: Vec<Record>,
        next: u64,
    ) {
        let now = Instant::now();
        self.complete(id, done, now);
        if let Some(claimed) = self.claims.get_mut(&id) {
            let lane = &mut claimed.lanes[at];
            (lane.running, lane.is_burying) = (Some(next), false);
            lane.attempts = 0;
        }
        self.release_held(id);
        self.pump(cell, now);
        self.call_driver(id);
    }

    /// A run has ended.
    pub(crate) fn end_run(&mut self, cell: &ColorCell<State>, id: u64, at: usize, report: Report) {
        let Report { mut records, done, end, dead_letters } = report;
        let rest = records.split_off(done);
        let dead_letters = u64::from(dead_letters);
        let retries = u64::from(matches!(end, End::Retry { dead: None, .. }));
        self.figures.postponed += u64::from(matches!(end, End::Later(_)));
        self.figures.dead_letters += dead_letters;
        self.figures.retries += retries;
        let now = Instant::now();
        self.complete(id, records, now);
        let Some(claimed) = self.claims.get_mut(&id) else { return };
        claimed.retries += retries;
        claimed.dead_letters += dead_letters;
        self.runs -= 1;
        claimed.runs -= 1;
        let is_active = claimed.stage == Stage::Active;
        let lane = &mut claimed.lanes[at];
        self.figures.handled += now.saturating_duration_since(lane.since);
        (lane.task, lane.since) = (None, now);
        (lane.running, lane.is_burying) = (None, false);
        // A call that has failed counts against the rate.
        let rate = self.settings.rate.filter(|_| matches!(end, End::Finished));
        if let Some(rate) = rate {
            rate.give_back(lane, rest.len());
        }
        if is_active {
            claimed.put_back(at, rest);
        } else {
            let bytes = rest.iter().map(Record::size).sum();
            self.shares.subtract(&mut claimed.in_flight, InFlight { records: rest.len(), bytes });
        }
        let lane = &mut claimed.lanes[at];
        if done > 0 {
            // They were those of a record that is done.
            lane.attempts = 0;
        }
        match end {
            End::Later(time) if is_active => {
                lane.phase = Phase::Postponed;
                lane.task = Some(wake_later(cell, id, at, Phase::Postponed, time));
            }
            End::Retry { attempts, dead, after } if is_active => {
                let delay = dead.as_ref().map_or(attempts, |dead| dead.failures);
                let delay = after.unwrap_or_else(|| self.settings.delay(delay));
                (lane.attempts, lane.dead) = (attempts, dead);
                lane.phase = Phase::BackingOff;
                lane.task = Some(wake_later(cell, id, at, Phase::BackingOff, delay));
            }
            End::Fatal(text) => self.fail(ConsumerError::Fatal(text)),
            _ if lane.pending.is_empty() => self.end_lane(cell, id, at, now),
            _ => {
                lane.phase = Phase::Ready;
                self.ready.push_back((id, at));
            }
        }
        self.release_held(id);
        self.pump(cell, now);
        self.call_driver(id);
    }

    /// A run gives its next record to the dead letters.
    pub(crate) fn begin_burial(&mut self, id: u64, at: usize) {
        let lane = self.claims.get_mut(&id).and_then(|claimed| claimed.lanes.get_mut(at));
        lane.into_iter().for_each(|lane| lane.is_burying = true);
    }

    /// Records are done. They are dropped here, where most were made: an allocator does that faster than elsewhere.
    fn complete(&mut self, id: u64, mut records: Vec<Record>, now: Instant) {
        let Some(claimed) = self.claims.get_mut(&id) else {
            // Every run ends before its claim leaves.
            self.figures.violate("an effect after the partition had gone", None);
            return;
        };
        let (low, count) = (claimed.tracker.low(), records.len());
        let mut bytes = 0;
        for record in records.drain(..) {
            let was_started = claimed.tracker.complete(record.offset);
            self.figures.check_order(was_started, &claimed.owned, record.offset);
            bytes += record.size();
        }
        if self.spare.len() < SPARE && (RUN..=2 * RUN).contains(&records.capacity()) {
            self.spare.push(records);
        }
        if claimed.tracker.low() > low {
            claimed.low_since = now;
        }
        claimed.advance(count as u64, now);
        if count > 0 && !std::mem::replace(&mut self.has_news, true) {
            // The driver does not know yet that a commit is due.
            self.attention.notify_one();
        }
        self.done_since += count;
        self.figures.done += count as u64;
        self.shares.subtract(&mut claimed.in_flight, InFlight { records: count, bytes });
        self.look_at_waits();
    }
}

impl Claimed {
    /// Records of a run that are not done are the first of their lane again.
    fn put_back(&mut self, at: usize, records: Vec<Record>) {
        let lane = &mut self.lanes[at];
        if let Some(first) = records.first() {
            lane.next = first.offset;
        }
        for record in records.into_iter().rev() {
            self.tracker.put_back(record.offset);
            lane.pending.push_front(record);
        }
    }
}
