//! The records of a partition that are in flight.
//!
//! Invariants:
//!
//! * A commit never passes an unfinished record: the committed offset is the one after the contiguous row of finished
//!   records.
//! * What is done above the committed offset is in the map of the commit. The map always fits: before a record starts,
//!   the tracker counts the bytes of the largest map that could follow from it. Offset and map come from one call.
//! * The record at the low-water mark may always start. If it is stuck, the others still go on while up to
//!   [`MOST_AHEAD`] records are stuck: a record that adds no row to the map may start, and the lowest one that waits may add
//!   the rows that no other one may.
//!
//! Offsets that no record has (compaction, the markers of transactions) count as done when the reader has passed them.

use super::metadata::{MOST_BITS, MOST_LENGTH, MOST_RANGES, encode};
use super::words::{Spot, Words};
use std::collections::VecDeque;
use std::ops::Range;

/// How many rows the map may have by records that are not the lowest one. The rest is for that one: it adds a row for each
/// stuck record below it at most.
const MOST_AHEAD: usize = MOST_RANGES / 2;

/// What becomes of a record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// It is to be handled.
    New,
    /// It was done before the partition came here.
    Done,
    /// It has come already: it is below a record that has come.
    Stale,
}

/// What is in flight, and what is done.
#[derive(Debug)]
pub(crate) struct Tracker {
    /// Everything below is done. The offset of the first record that is not done, or `end` if there is none.
    low: u64,
    /// The records that have come. The first is not done.
    words: Words,
    /// Where the reader goes on: what is below has come, or is no record.
    end: u64,
    /// What the map of the commit called done, and has not come yet.
    restored: VecDeque<Range<u64>>,
    /// Rows of finished records above the first unfinished one. They are counted when the map may become too large, and from then on.
    rows: Option<usize>,
    /// Records that have started and are not done.
    started: usize,
    /// The offset after the last record that has ever started, or was restored.
    started_end: u64,
    /// Finished records above the first unfinished one.
    done: usize,
}

impl Tracker {
    /// Begins at the committed offset, with the ranges of relative offsets that its map calls done. If they are more than
    /// a map of ours has room for, the last ones are forgotten, and come again.
    pub(crate) fn new(committed: u64, map: Vec<Range<u64>>) -> Tracker {
        let is_small = map.last().is_none_or(|last| last.end <= MOST_BITS);
        let most = if is_small { usize::MAX } else { MOST_RANGES };
        let is_short = |range: &Range<u64>| range.end <= MOST_LENGTH;
        let ranges = map.into_iter().take(most).take_while(is_short);
        let restored: VecDeque<_> =
            ranges.map(|range| committed + range.start..committed + range.end).collect();
        let started_end = restored.back().map_or(committed, |last| last.end);
        Tracker {
            low: committed,
            words: Words::default(),
            end: committed,
            restored,
            rows: None,
            started: 0,
            started_end,
            done: 0,
        }
    }

    /// The offset that a commit may say.
    pub(crate) fn low(&self) -> u64 {
        self.low
    }

    /// Where the reader goes on.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// How many records are done above the first that is not.
    pub(crate) fn done_above(&self) -> usize {
        self.done
    }

    /// How many records have come and are not done.
    pub(crate) fn unfinished(&self) -> usize {
        self.words.len() - self.done
    }

    /// How many records have come from the first unfinished one on.
    pub(crate) fn distance(&self) -> usize {
        self.words.len()
    }

    /// The record that holds the committed offset back.
    pub(crate) fn first_unfinished(&self) -> Option<u64> {
        (self.words.len() > 0).then_some(self.low)
    }

    /// Takes a record that was read. Records come with ascending offsets.
    #[inline]
    pub(crate) fn accept(&mut self, offset: u64) -> Accepted {
        if offset < self.end {
            return Accepted::Stale;
        }
        self.move_end(offset);
        self.end = offset + 1;
        if self.restored.front().is_some_and(|range| range.start <= offset) {
            self.append_done(offset);
            return Accepted::Done;
        }
        if self.words.len() == 0 {
            self.low = offset;
        }
        self.words.push(offset, false);
        Accepted::New
    }

    /// The reader goes on at `next`: what has not come below it is no record. Returns whether a commit says more now.
    pub(crate) fn pass(&mut self, next: u64) -> bool {
        let low = self.low;
        self.move_end(next);
        self.pass_holes();
        self.low > low
    }

    /// The reader has come so far. What the old map says below it has come, or is no record.
    #[inline]
    fn move_end(&mut self, end: u64) {
        self.end = self.end.max(end);
        while self.restored.front().is_some_and(|range| range.end <= self.end) {
            self.restored.pop_front();
        }
    }

    fn append_done(&mut self, offset: u64) {
        match self.words.is_last_done() {
            None => return self.pass_restored(offset + 1),
            Some(false) => self.rows = self.rows.map(|rows| rows + 1),
            Some(true) => {}
        }
        self.words.push(offset, true);
        self.done += 1;
    }

    /// Whether the record may start: whether the map fits whatever is done first. `is_lowest` if no record below it waits for
    /// its start.
    #[inline]
    pub(crate) fn may_start(&mut self, offset: u64, is_lowest: bool) -> bool {
        let end = self.started_end.max(offset + 1);
        end - self.low <= MOST_BITS || self.may_start_far(offset, is_lowest, end)
    }

    #[cold]
    fn may_start_far(&mut self, offset: u64, is_lowest: bool, end: u64) -> bool {
        if self.first_unfinished() == Some(offset) {
            return true;
        }
        let distance = end - self.low;
        let adds_row = !self.touches_a_row(offset);
        if !adds_row && end == self.started_end {
            return true;
        }
        let first_is_started =
            self.words.find(self.low).is_some_and(|at| self.words.is_started(at));
        let may_be_rows = self.started - usize::from(first_is_started) + usize::from(adds_row);
        let most = if is_lowest || !adds_row { MOST_RANGES } else { MOST_AHEAD };
        let rows = *self.rows.get_or_insert_with(|| self.words.count_rows());
        rows + self.restored.len() + may_be_rows <= most && distance <= MOST_LENGTH
    }

    /// Whether the record before or behind it is done, above the low-water mark.
    fn touches_a_row(&self, offset: u64) -> bool {
        let Some(at) = self.words.find(offset) else { return false };
        self.words.is_done_before(at) || self.words.is_done_behind(at)
    }

    /// The record starts. Returns whether that was its turn: it has come, and never started.
    #[must_use]
    #[inline]
    pub(crate) fn start(&mut self, offset: u64) -> bool {
        let is_its_turn = self.words.find(offset).is_some_and(|at| self.words.start(at));
        if is_its_turn {
            self.started += 1;
            self.started_end = self.started_end.max(offset + 1);
        }
        is_its_turn
    }

    /// The record did not start after all, or is to start again.
    pub(crate) fn put_back(&mut self, offset: u64) {
        if self.words.find(offset).is_some_and(|at| self.words.put_back(at)) {
            self.started -= 1;
        }
    }

    /// The record is done. Returns whether it was under way.
    #[must_use]
    #[inline]
    pub(crate) fn complete(&mut self, offset: u64) -> bool {
        let Some(at) = self.words.find(offset).filter(|at| self.words.finish(*at)) else {
            return false;
        };
        self.started -= 1;
        self.done += 1;
        if self.rows.is_some() {
            self.count_in(at, offset == self.low);
        }
        if offset == self.low {
            self.done -= self.words.drop_done();
            self.pass_holes();
        }
        #[cfg(test)]
        assert!(
            !offset.is_multiple_of(97)
                || self.rows.is_none_or(|rows| rows == self.words.count_rows())
        );
        true
    }

    /// A record is done: it begins a row, joins one or two, or is the first.
    #[cold]
    fn count_in(&mut self, at: Spot, is_first: bool) {
        let joins_next = self.words.is_done_behind(at);
        let joins_last = is_first || self.words.is_done_before(at);
        self.rows = self.rows.map(|rows| match (joins_last, joins_next) {
            (false, false) => rows + 1,
            (true, true) => rows - 1,
            _ => rows,
        });
        if self.started_end.saturating_sub(self.low) <= MOST_BITS / 2 {
            // It is far from too large.
            self.rows = None;
        }
    }

    /// Moves the low-water mark over what is no record.
    #[inline]
    fn pass_holes(&mut self) {
        match self.words.first() {
            Some(first) => self.low = first,
            None => self.pass_restored(self.end),
        }
    }

    /// Everything below `low` is done: and so is what the old map says from there on.
    fn pass_restored(&mut self, low: u64) {
        let next = self.restored.front().filter(|range| range.start <= low);
        self.low = next.map_or(low, |range| range.end).max(low).max(self.low);
    }

    /// What a commit says now: the offset and its metadata.
    pub(crate) fn commit(&self) -> (u64, Vec<u8>) {
        (self.low, encode(&self.map()))
    }

    fn count_rows(&self) -> usize {
        self.rows.unwrap_or_else(|| if self.done > 0 { self.words.count_rows() } else { 0 })
    }

    /// What is done above the committed offset, relative to it.
    fn map(&self) -> Vec<Range<u64>> {
        let mut map: Vec<Range<u64>> = Vec::with_capacity(self.count_rows() + self.restored.len());
        let mut add = |range: Range<u64>| match map.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => map.push(range),
        };
        if self.done > 0 {
            self.words.for_each_row(|row| {
                add(row.start.max(self.low) - self.low..row.end - self.low);
            });
        }
        for range in &self.restored {
            let start = range.start.max(self.end).max(self.low);
            if start < range.end {
                add(start - self.low..range.end - self.low);
            }
        }
        map
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "the map has one range")]
mod tests;
