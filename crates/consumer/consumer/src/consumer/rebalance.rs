//! Partitions come and go.
//!
//! Invariants:
//!
//! * A partition that was revoked is released only when none of its handlers runs any more: they have finished, or their
//!   futures were dropped under their colors.
//! * A partition that was lost commits nothing.
//! * A partition that comes again begins when the handlers of its last time here have ended, and ends behind them.

use super::claimed::Claimed;
use super::clock::after;
use super::context::Claim;
use super::lane::Phase;
use super::line::say;
use super::options::Broken;
use super::state::{Entry, Stage, State};
use crate::source::{Owned, TopicPartition};
use colored::time::Instant;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Claims whose time is over.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    pub(crate) ids: Vec<u64>,
    /// What is to be released. Lost partitions are not.
    pub(crate) released: Vec<Owned>,
    /// Those whose handlers are to be dropped.
    pub(crate) aborted: Vec<Arc<Claim>>,
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
        for entry in self.claims.values() {
            // Nobody waits for the ends of these handlers.
            entry.claim.post(|claimed, claim| {
                drop(claimed.abort_runs());
                claimed.end_turn(claim, Instant::now());
            });
        }
    }

    fn end_claims(&mut self, wanted: impl Fn(u64, &Owned) -> bool, stage: Stage, is_lost: bool) {
        for (id, entry) in self.claims.iter_mut().filter(|(id, of)| wanted(**id, of.owned())) {
            if entry.is_active() || is_lost {
                entry.stage = stage;
                self.has_ending = true;
                self.shared.sums().close_for_good(*id, is_lost);
                entry.claim.revoke();
                entry.claim.post(Claimed::end);
            }
        }
        self.look_at_waits();
        self.shared.attention.notify_one();
    }

    /// The claims that are drained, or have been given enough time. Their end must be carried out before the next call.
    pub(crate) fn take_ending(&mut self, now: Instant) -> Ending {
        let mut ending = Ending::default();
        if !self.has_ending {
            return ending;
        }
        let sums = self.shared.sums();
        self.has_ending = self.claims.values().any(|entry| !entry.is_active());
        let is_broken = self.settings.broken == Broken::NoDrain;
        let mut draining = BTreeSet::<TopicPartition>::new();
        for (id, entry) in &mut self.claims {
            let sum = sums.of.get(id);
            let is_drained = sum.is_some_and(|sum| sum.is_drained);
            let is_over = match entry.stage {
                Stage::Active => continue,
                Stage::Draining(until) => is_drained || until <= now || is_broken,
                Stage::Ending => true,
            };
            if !is_over || draining.contains(&entry.owned().partition) {
                draining.insert(entry.owned().partition.clone());
                continue;
            }
            entry.stage = Stage::Ending;
            ending.ids.push(*id);
            if sum.is_some_and(|sum| !sum.is_lost) {
                ending.released.push(entry.owned().clone());
            }
            if !is_broken && !is_drained {
                ending.aborted.push(Arc::clone(&entry.claim));
            }
        }
        ending
    }

    /// When the next drain ends.
    pub(crate) fn next_drain(&self) -> Option<Instant> {
        if !self.has_ending {
            return None;
        }
        let until = |entry: &Entry| match entry.stage {
            Stage::Draining(until) => Some(until),
            _ => None,
        };
        self.claims.values().filter_map(until).min()
    }
}

impl Claimed {
    /// Names runs that take long, each once, on the standard error.
    pub(crate) fn report_slow(&mut self, now: Instant) {
        let Claimed { lanes, owned, settings, shared, .. } = self;
        for (_, lane) in lanes.iter_mut() {
            let time = now.saturating_duration_since(lane.since);
            if time >= settings.slow && lane.phase == Phase::Running && !lane.is_reported {
                lane.is_reported = true;
                let (of, name, what) = (&owned.partition, lane.name(), lane.hook());
                let offset = lane.first;
                let text = format!(
                    "{of}: the {what} of {name}, offset {offset}, has not returned for {time:?}"
                );
                let line = shared.sums().figures.slow_lines.next(&text);
                say(line);
            }
        }
    }
}
