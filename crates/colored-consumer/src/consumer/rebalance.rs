//! Partitions come and go.
//!
//! Invariants:
//!
//! * A partition that was revoked is released only when none of its handlers runs any more: they have finished, or their
//!   futures were dropped under their colors.
//! * A partition that was lost commits nothing.
//! * A partition that comes again begins when the handlers of its last time here have ended.

use super::claimed::{Claimed, Stage};
use super::failure::ConsumerError;
use super::options::{Broken, Reset};
use super::state::State;
use crate::progress::{Tracker, metadata};
use crate::source::{Assignment, Committed, Owned};
use colored::JoinHandle;
use colored::time::Instant;

/// Claims whose time is over.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    pub(crate) ids: Vec<u64>,
    /// What is to be released. Lost partitions are not.
    pub(crate) released: Vec<Owned>,
    /// Handlers that are being dropped.
    pub(crate) aborted: Vec<JoinHandle<()>>,
}

impl State {
    /// Takes a partition; returns where it is to be read from. `None` if the consumer has to stop because of it.
    pub(crate) fn assign(&mut self, assignment: Assignment) -> Option<(Owned, u64)> {
        let Assignment { owned, committed, start, end } = assignment;
        let reset = match self.settings.reset {
            Reset::Earliest => Some(start),
            Reset::Latest => Some(end),
            Reset::Fail => None,
        };
        let in_log = committed.filter(|committed| (start..=end).contains(&committed.offset));
        let place = in_log.or_else(|| Some(Committed { offset: reset?, metadata: Vec::new() }));
        let Some(Committed { offset, metadata }) = place else {
            let text = format!(
                "{}: the group has no place in the log, which has the offsets from {start} to {end}",
                owned.partition
            );
            self.fail(ConsumerError::OutOfRange(text));
            return None;
        };
        let map = metadata::decode(&metadata, end - offset).unwrap_or_else(|fault| {
            self.figures.foreign_metadata += 1;
            let of = &owned.partition;
            eprintln!("colored-consumer: {of}: {fault}: records after {offset} may come again");
            Vec::new()
        });
        self.insert(Claimed::new(owned.clone(), Tracker::new(offset, map), end));
        Some((owned, offset))
    }

    /// Whether an earlier time of the partition here has not ended.
    pub(crate) fn has_earlier(&self, owned: &Owned) -> bool {
        let mut others = self.claims.values().filter(|claimed| claimed.owned != *owned);
        others.any(|claimed| claimed.owned.partition == owned.partition)
    }

    /// The log has not the next record of a partition. Returns where to go on: what lies between counts as done.
    pub(crate) fn go_on(&mut self, owned: &Owned, start: u64, end: u64) -> Option<u64> {
        self.active(owned)?;
        match self.settings.reset {
            Reset::Earliest => Some(start),
            Reset::Latest => Some(end),
            Reset::Fail => {
                let text = format!("{}: the log has {start} to {end} only", owned.partition);
                self.fail(ConsumerError::OutOfRange(text));
                None
            }
        }
    }

    /// Others are to have these partitions: nothing starts any more.
    pub(crate) fn revoke(&mut self, wanted: impl Fn(&Owned) -> bool, now: Instant) {
        let until = now + self.settings.drain;
        self.end_claims(wanted, Stage::Draining(until), false);
    }

    /// These partitions are gone.
    pub(crate) fn lose(&mut self, wanted: impl Fn(&Owned) -> bool) {
        self.end_claims(wanted, Stage::Ending, true);
    }

    /// The driver is gone. What runs is dropped, and nothing starts any more.
    pub(crate) fn abandon(&mut self) {
        self.lose(|_| true);
        for claimed in self.claims.values_mut() {
            // Nobody waits for the ends of these handlers.
            drop(claimed.abort_runs());
        }
    }

    fn end_claims(&mut self, wanted: impl Fn(&Owned) -> bool, stage: Stage, is_lost: bool) {
        for claimed in self.claims.values_mut().filter(|claimed| wanted(&claimed.owned)) {
            claimed.is_lost |= is_lost;
            if claimed.stage == Stage::Active || is_lost {
                claimed.stage = stage;
                self.has_ending = true;
                let forgotten = claimed.forget_waiting();
                self.shares.subtract(&mut claimed.in_flight, forgotten);
            }
        }
        self.look_at_all();
        self.attention.notify_one();
    }

    /// The claims that are drained, or have been given enough time. Their end must be carried out before the next call.
    pub(crate) fn take_ending(&mut self, now: Instant) -> Ending {
        let mut ending = Ending::default();
        if !self.has_ending {
            return ending;
        }
        self.has_ending = self.claims.values().any(|claimed| claimed.stage != Stage::Active);
        let is_broken = self.settings.broken == Broken::NoDrain;
        for (id, claimed) in &mut self.claims {
            let is_over = match claimed.stage {
                Stage::Active => false,
                Stage::Draining(until) => claimed.runs == 0 || until <= now || is_broken,
                Stage::Ending => true,
            };
            if !is_over {
                continue;
            }
            claimed.stage = Stage::Ending;
            ending.ids.push(*id);
            if !claimed.is_lost {
                ending.released.push(claimed.owned.clone());
            }
            if !is_broken {
                ending.aborted.extend(claimed.abort_runs());
            }
        }
        self.figures.aborted += ending.aborted.len() as u64;
        ending
    }

    /// When the next drain ends.
    pub(crate) fn next_drain(&self) -> Option<Instant> {
        if !self.has_ending {
            return None;
        }
        let until = |claimed: &Claimed| match claimed.stage {
            Stage::Draining(until) => Some(until),
            _ => None,
        };
        self.claims.values().filter_map(until).min()
    }

    /// Names runs that take long, each once, on the standard error.
    pub(crate) fn report_slow(&mut self, now: Instant) {
        let slow = self.settings.slow;
        for claimed in self.claims.values_mut() {
            for (_, lane) in &mut claimed.lanes {
                let time = now.saturating_duration_since(lane.since);
                let Some(offset) = lane.running else { continue };
                if time >= slow && !lane.is_reported {
                    lane.is_reported = true;
                    let (of, name) = (&claimed.owned.partition, lane.name());
                    eprintln!(
                        "colored-consumer: {of}: the handler of {name}, offset {offset}, has not returned for {time:?}"
                    );
                }
            }
        }
    }
}
