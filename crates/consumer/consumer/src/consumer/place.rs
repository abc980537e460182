//! Where partitions begin: the one place that compares what a group has committed with what a log has.
//!
//! Invariants:
//!
//! * A place that the log has is kept, and [`Reset`] decides about no other one.
//! * A place that [`Reset`] has chosen is committed, though nothing is done: a partition without a commit is new to its group.
//! * A claim goes on in the same log and upwards only. Otherwise it ends without a commit, and another one begins in the log as it
//!   is now, when the handlers of the first have ended.

use super::claimed::Claimed;
use super::context::Claim;
use super::failure::ConsumerError;
use super::line::say;
use super::options::Reset;
use super::seek::Unplaced;
use super::state::State;
use crate::progress::{Tracker, metadata};
use crate::source::{Assignment, Extent, Owned};
use colored::time::Instant;
use std::fmt;
use std::sync::Arc;

/// Why a group has no place in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// It was never in the topic.
    Never,
    /// It is in the topic, and the partition was added.
    Added,
    /// Records behind its place were deleted.
    Deleted,
    /// Records behind its place, this one, may have been deleted.
    Doubtful(u64),
    /// Its place is beyond what the log has had.
    Beyond,
    /// Its place is in another log.
    Other,
}

/// A claim that is to be read from the place on where its tracker stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begin {
    pub(crate) id: u64,
    pub(crate) owned: Owned,
}

/// Looks whether a log has a place. The identity is that of the log in which it was a place.
fn find(log: &Extent, offset: u64, identity: Option<u128>) -> Result<(), Missing> {
    match () {
        () if log.is_other(identity) => Err(Missing::Other),
        () if offset < log.doubt => Err(Missing::Deleted),
        () if offset < log.floor => Err(Missing::Doubtful(offset)),
        () if offset > log.limit => Err(Missing::Beyond),
        () => Ok(()),
    }
}

impl Missing {
    /// Where a partition begins instead.
    fn place(self, reset: Reset, log: &Extent) -> Option<u64> {
        // All that the log has was written since the group has come.
        let is_new = matches!(self, Missing::Added | Missing::Other);
        match (reset, self) {
            (Reset::Fail, _) => None,
            (_, Missing::Doubtful(offset)) => Some(offset.max(log.start)),
            (Reset::Latest, _) if !is_new => Some(log.end),
            (Reset::Latest | Reset::Earliest, _) => Some(log.start),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::Never | Missing::Added => "the group has no place in it",
            Missing::Deleted => "records were deleted before the group has read them",
            Missing::Doubtful(_) => "records may have been deleted before the group has read them",
            Missing::Beyond => "the place of the group is beyond its end",
            Missing::Other => "it is another log than that of the group's place",
        })
    }
}

impl State {
    /// Takes a partition; returns where it is to be read from. `None` if the consumer has to stop because of it.
    pub(crate) fn assign(&mut self, assignment: Assignment) -> Option<Begin> {
        let Assignment { owned, committed, log, has_other_commits } = assignment;
        let missing = match &committed {
            None if has_other_commits => Err(Missing::Added),
            None => Err(Missing::Never),
            Some(committed) => find(&log, committed.offset, committed.log),
        };
        match (committed, missing) {
            (Some(committed), Ok(())) => {
                let map = metadata::decode(&committed.metadata, log.limit - committed.offset);
                let map = map.unwrap_or_else(|fault| {
                    self.sums().figures.foreign_metadata += 1;
                    let (of, offset) = (&owned.partition, committed.offset);
                    say(format!("{of}: {fault}: records after {offset} may come again"));
                    Vec::new()
                });
                let mut tracker = Tracker::new(committed.offset, map);
                let has_news = tracker.pass(log.start);
                Some(self.begin_claim(owned, tracker, &log, has_news, Unplaced::End))
            }
            (_, missing) => {
                let offset = self.reset(&owned, &log, missing.err().unwrap_or(Missing::Never))?;
                Some(self.begin_new(owned, &log, offset))
            }
        }
    }

    /// The place of a partition is not in its log, or was not. Returns where to go on, and whether that is to wait until the
    /// handlers of an earlier claim have ended. `None` if nothing is to be read.
    pub(crate) fn go_on(&mut self, owned: &Owned, log: &Extent) -> Option<Begin> {
        let id = self.active(owned)?;
        let entry = &self.claims[&id];
        if entry.awaits_begin {
            // It is about the place of an earlier claim.
            return None;
        }
        let next = entry.end;
        let offset = match find(log, next, entry.identity) {
            Ok(()) => next.max(log.start),
            Err(missing) => {
                let offset = self.reset(owned, log, missing)?;
                let is_same = matches!(missing, Missing::Deleted | Missing::Doubtful(_));
                if !is_same || offset < next {
                    return Some(self.replace(id, log, offset));
                }
                offset
            }
        };
        let entry = self.claims.get_mut(&id).expect("it is active");
        let until = entry.until.unwrap_or(u64::MAX);
        let (next, end) = (offset.min(until), log.end.min(until));
        entry.end = entry.end.max(next);
        entry.identity = log.identity.or(entry.identity);
        entry.claim.post(move |claimed, claim| claimed.go_on(claim, next, end));
        Some(Begin { id, owned: owned.clone() })
    }

    /// Asks [`Reset`] for a place. `None` if the consumer has to stop.
    fn reset(&mut self, owned: &Owned, log: &Extent, missing: Missing) -> Option<u64> {
        let of = &owned.partition;
        let Some(place) = missing.place(self.settings.reset, log) else {
            self.fail(ConsumerError::OutOfRange(format!("{of}: {missing}: {log}")));
            return None;
        };
        if !matches!(missing, Missing::Never | Missing::Added) {
            let text = format!("{of}: {missing}: {log}, and begins at {place}");
            let mut sums = self.sums();
            sums.figures.resets += 1;
            let line = sums.figures.reset_lines.next(&text);
            drop(sums);
            say(line);
        }
        Some(place)
    }

    /// Ends a claim without a commit, and begins another one of the same partition and generation.
    pub(crate) fn replace(&mut self, id: u64, log: &Extent, offset: u64) -> Begin {
        let owned = self.claims[&id].owned().clone();
        self.give_up(id, Instant::now());
        // The engine is not to pause the next claim because of this one.
        self.sums().pauses.push((owned.partition.clone(), false));
        self.begin_new(owned, log, offset)
    }

    /// Begins a claim at a place that the group has not committed.
    fn begin_new(&mut self, owned: Owned, log: &Extent, offset: u64) -> Begin {
        self.begin_claim(owned, Tracker::new(offset, Vec::new()), log, true, Unplaced::Both)
    }

    /// Begins a claim. A replay has to look up where it ends, and perhaps where it begins.
    fn begin_claim(
        &mut self,
        owned: Owned,
        tracker: Tracker,
        log: &Extent,
        is_chosen: bool,
        unplaced: Unplaced,
    ) -> Begin {
        let unplaced = self.settings.replay.is_some().then_some(unplaced);
        self.has_unplaced |= unplaced.is_some();
        let id = self.insert(owned.clone(), tracker, log, is_chosen, unplaced);
        Begin { id, owned }
    }

    /// Whether an earlier claim of the partition has not ended.
    pub(crate) fn has_earlier(&self, begin: &Begin) -> bool {
        let mut earlier = self.claims.range(..begin.id);
        earlier.any(|(_, entry)| entry.owned().partition == begin.owned.partition)
    }
}

impl Claimed {
    /// Reading goes on at `next` of the same log, which ends at `end`.
    fn go_on(&mut self, claim: &Arc<Claim>, next: u64, end: u64) {
        let low = self.tracker.low();
        self.tracker.pass(next);
        self.log_end = end;
        self.note_news(claim, self.tracker.low() > low);
    }
}
