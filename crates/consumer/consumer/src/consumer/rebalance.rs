//! Partitions come and go.
//!
//! Invariants:
//!
//! * A partition that was revoked is released only when none of its handlers runs any more: they have finished, or their
//!   futures were dropped under their colors.
//! * A partition that was lost commits nothing.
//! * A partition that comes again begins when the handlers of its last time here have ended, and ends behind them.

use super::claimed::{Claimed, Stage};
use super::clock::after;
use super::lane::Phase;
use super::options::Broken;
use super::state::State;
use crate::source::{Owned, TopicPartition};
use colored::JoinHandle;
use colored::time::Instant;
use std::collections::BTreeSet;

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
    /// Others are to have these partitions: nothing starts any more.
    pub(crate) fn revoke(&mut self, wanted: impl Fn(&Owned) -> bool, now: Instant) {
        let until = after(now, self.settings.drain);
        self.end_claims(|_, owned| wanted(owned), Stage::Draining(until), false);
    }

    /// These partitions are gone.
    pub(crate) fn lose(&mut self, wanted: impl Fn(&Owned) -> bool) {
        self.end_claims(|_, owned| wanted(owned), Stage::Ending, true);
    }

    /// The log of a claim is not what it was: nothing of it starts or is committed any more, and what runs may finish.
    pub(crate) fn give_up(&mut self, id: u64, now: Instant) {
        let until = after(now, self.settings.drain);
        self.end_claims(|of, _| of == id, Stage::Draining(until), true);
    }

    /// The driver is gone. What runs is dropped, and nothing starts any more.
    pub(crate) fn abandon(&mut self) {
        self.lose(|_| true);
        self.waits = None;
        self.seeks.clear();
        for claimed in self.claims.values_mut() {
            // Nobody waits for the ends of these handlers.
            drop(claimed.abort_runs());
        }
    }

    fn end_claims(&mut self, wanted: impl Fn(u64, &Owned) -> bool, stage: Stage, is_lost: bool) {
        for (_, claimed) in self.claims.iter_mut().filter(|(id, of)| wanted(**id, &of.owned)) {
            claimed.is_lost |= is_lost;
            if claimed.stage == Stage::Active || is_lost {
                claimed.stage = stage;
                self.has_ending = true;
                let forgotten = claimed.forget_waiting(&mut self.waiting);
                self.shares.subtract(&mut claimed.in_flight, forgotten);
            }
        }
        self.waiting.shrink();
        self.look_at_all();
        self.look_at_waits();
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
        let mut draining = BTreeSet::<TopicPartition>::new();
        for (id, claimed) in &mut self.claims {
            let is_over = match claimed.stage {
                Stage::Active => continue,
                Stage::Draining(until) => claimed.runs == 0 || until <= now || is_broken,
                Stage::Ending => true,
            };
            if !is_over || draining.contains(&claimed.owned.partition) {
                draining.insert(claimed.owned.partition.clone());
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
            for (_, lane) in claimed.lanes.iter_mut() {
                let time = now.saturating_duration_since(lane.since);
                if time >= slow && lane.phase == Phase::Running && !lane.is_reported {
                    lane.is_reported = true;
                    let (of, name, what) = (&claimed.owned.partition, lane.name(), lane.hook());
                    let offset = lane.first;
                    self.figures.slow_lines.say(&format!(
                        "{of}: the {what} of {name}, offset {offset}, has not returned for {time:?}"
                    ));
                }
            }
        }
    }
}
