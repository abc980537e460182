//! What runs report: records that are done, and how each run has ended.

use super::claimed::Claimed;
use super::contain::{contain, drop_each};
use super::context::Claim;
use super::failure::ConsumerError;
use super::kept::{Kept, Records};
use super::lane::Phase;
use super::line::say;
use super::run::{End, Letter, Run, Told};
use super::starts::{RUN, wake_later};
use super::waiting;
use colored::time::Instant;
use std::mem;
use std::sync::Arc;

/// So many vectors all claims keep for later runs: together they have some 350 KiB at most. A guess.
const SPARE: usize = 64;

/// So many boxes of runs all claims keep. A guess: as many runs as there are at a time by default.
const SPARE_RUNS: usize = 256;

/// So many letters the parts have room for that all claims keep: together some 800 KiB at most. A guess.
const SPARE_LETTERS: usize = 16_384;

impl Claimed {
    /// Hears what runs have told, a part of it if that is much.
    pub(crate) fn hear(&mut self, claim: &Arc<Claim>) {
        if self.hear_part(claim) {
            claim.post(Claimed::hear);
        }
    }

    /// Hears all that runs have told before the call. Others go on meanwhile, so the inbox may never be empty.
    pub(crate) fn hear_all(&mut self, claim: &Arc<Claim>) {
        for _ in 0..claim.inbox.parts() {
            self.hear_part(claim);
        }
        // What was counted before is to be told, too.
        self.contain_turn(|claimed| claimed.end_turn(claim, Instant::now()));
    }

    /// Returns whether there is more.
    fn hear_part(&mut self, claim: &Arc<Claim>) -> bool {
        let Some(mut letters) = claim.inbox.take(&self.shared) else { return false };
        let now = Instant::now();
        let mut told = letters.drain(..);
        // A turn that does not come to its end would leave letters unheard, and nobody would post the next one.
        while let Err(panic) = contain(|| {
            told.by_ref().for_each(|letter| self.hear_one(claim, letter, now));
        }) {
            self.note_panic(panic);
        }
        drop(told);
        self.waiting.shrink(self.part_of(waiting::KEPT));
        self.contain_turn(|claimed| claimed.end_turn(claim, now));
        claim.inbox.give_back(letters, self.part_of(SPARE_LETTERS)) > 0
    }

    fn hear_one(&mut self, claim: &Arc<Claim>, (at, told): Letter, now: Instant) {
        if self.is_gone {
            return self.hear_late(told);
        }
        match told {
            Told::Progress(done, next) => self.progress(at, done, next, now),
            Told::Burial => self.begin_burial(at),
            Told::FailedLetter(text) => {
                let line = self.shared.sums().figures.count_failed_letter(&text);
                say(line);
            }
            Told::End(run, end) => self.end_run(claim, run, end, now),
        }
    }

    /// Every run ends before its claim leaves.
    fn hear_late(&mut self, told: Told) {
        let records = match told {
            Told::Progress(done, _) => done,
            Told::End(mut run, _) => mem::take(&mut run.records).split_off(0),
            Told::Burial | Told::FailedLetter(_) => return,
        };
        self.shared.violate("an effect after the partition had gone", None);
        drop_each(records);
    }

    /// The first records of a run are done, and it goes on with the record at `next`.
    fn progress(&mut self, at: u32, done: Vec<Kept>, next: u64, now: Instant) {
        self.complete(Records::Many(done), now);
        let lane = &mut self.lanes[at];
        (lane.first, lane.is_burying) = (next, false);
        lane.attempts = 0;
    }

    /// A run has ended.
    fn end_run(&mut self, claim: &Arc<Claim>, mut run: Box<Run>, end: End, now: Instant) {
        let (at, done) = (run.lane, run.done());
        let mut records = mem::take(&mut run.records);
        let rest = records.split_off(done);
        let (attempts, dead) = (run.attempts, run.dead.take());
        let dead_letters = u64::from(run.dead_letters);
        self.keep_box(run);
        let retries = u64::from(matches!(end, End::Retry(_)) && dead.is_none());
        self.counts.postponed += u64::from(matches!(end, End::Later(_)));
        self.counts.dead_letters += dead_letters;
        self.counts.retries += retries;
        self.retries += retries;
        self.dead_letters += dead_letters;
        self.complete(records, now);
        self.runs -= 1;
        self.permits += 1;
        let lane = &mut self.lanes[at];
        self.counts.handled += now.saturating_duration_since(lane.since);
        (lane.task, lane.since) = (None, now);
        (lane.phase, lane.is_burying) = (Phase::Ready, false);
        // A call that has failed counts against the rate.
        let rate = self.settings.rate.filter(|_| matches!(end, End::Finished));
        if let Some(rate) = rate {
            rate.give_back(lane, rest.len());
        }
        if self.is_active {
            self.put_back(at, rest);
        } else {
            self.less.records += rest.len();
            self.less.bytes += rest.iter().map(Kept::size).sum::<usize>();
            drop_each(rest);
        }
        let lane = &mut self.lanes[at];
        // They were those of a record that is done.
        lane.attempts = if done > 0 { 0 } else { lane.attempts };
        match end {
            End::Later(time) if self.is_active => {
                lane.phase = Phase::Postponed;
                lane.task = Some(wake_later(claim, at, Phase::Postponed, time));
            }
            End::Retry(after) if self.is_active => {
                let delay = dead.as_ref().map_or(attempts, |dead| dead.failures);
                let delay = after.unwrap_or_else(|| self.settings.delay(delay));
                (lane.attempts, lane.dead) = (attempts, dead);
                lane.phase = Phase::BackingOff;
                lane.task = Some(wake_later(claim, at, Phase::BackingOff, delay));
            }
            End::Fatal(text) => self.shared.fail(ConsumerError::Fatal(text)),
            _ if lane.pending.len() == 0 => self.end_lane(claim, at, now),
            _ => self.ready.push_back(at),
        }
    }

    /// A run gives its next record to the dead letters.
    fn begin_burial(&mut self, at: u32) {
        self.lanes.get_mut(at).into_iter().for_each(|lane| lane.is_burying = true);
    }

    /// Records are done. They are dropped here, where most were made: an allocator does that faster than elsewhere.
    fn complete(&mut self, records: Records, now: Instant) {
        let (low, count) = (self.tracker.low(), records.as_slice().len());
        for record in records.as_slice() {
            let was_started = self.tracker.complete(record.offset);
            self.shared.check_order(was_started, &self.owned, record.offset);
            self.less.bytes += record.size();
        }
        self.less.records += count;
        if self.tracker.low() > low {
            self.low_since = now;
        }
        self.advance(count as u64, now);
        self.counts.done += count as u64;
        self.drop_records(records);
    }

    fn drop_records(&mut self, records: Records) {
        match records {
            Records::One(record) => drop_each(Some(record)),
            Records::Many(mut records) => {
                drop_each(records.drain(..));
                if records.capacity() == RUN && self.spare.len() < self.part_of(SPARE) {
                    self.spare.push(records);
                }
            }
        }
    }

    /// Gives back what is more than its part.
    pub(crate) fn shrink_spare(&mut self) {
        let (vectors, boxes) = (self.part_of(SPARE), self.part_of(SPARE_RUNS));
        self.spare.truncate(vectors);
        self.spare.shrink_to(vectors);
        self.spare_runs.truncate(boxes);
        self.spare_runs.shrink_to(boxes);
    }

    fn keep_box(&mut self, run: Box<Run>) {
        if self.spare_runs.len() < self.part_of(SPARE_RUNS) {
            self.spare_runs.push(run);
        }
    }

    /// Records of a run that are not done are the first of their lane again.
    fn put_back(&mut self, at: u32, records: Vec<Kept>) {
        let lane = &mut self.lanes[at];
        if let Some(first) = records.first() {
            lane.next = first.offset;
        }
        for record in records.into_iter().rev() {
            self.tracker.put_back(record.offset);
            lane.pending.push_front(&mut self.waiting, record);
        }
        lane.first = lane.pending.first(&self.waiting).unwrap_or(lane.first);
    }
}
