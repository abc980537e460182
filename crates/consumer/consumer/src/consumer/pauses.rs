//! Which partitions are paused, and how much may be read.
//!
//! Invariants:
//!
//! * Between two events every partition is paused that has reached a bound, that is to begin elsewhere, or whose topic is paused by
//!   hand; and no other.
//! * No lane of a topic that is paused by hand has a run that was started since. A lane whose turn comes is parked, and is in
//!   line again when the pause ends.

use super::claimed::Claimed;
use super::options::Settings;
use super::shares::Shares;
use super::state::State;
use crate::source::{Room, TopicPartition};
use colored::ColorCell;
use colored::time::Instant;
use std::sync::Arc;

/// So many parts of what runs have told may be unheard while the source is read. A guess: some 2,000 reports.
pub(super) const BEHIND: usize = 16;

impl State {
    /// How much the source may return, from whichever partition that is not paused: it has reached no bound, so an eighth of
    /// each is left, and one. Nothing while much that runs have told is not heard: else new records would come before those that are
    /// done have left the memory.
    pub(crate) fn room(&mut self) -> Room {
        self.is_behind = self.inbox.parts() > BEHIND;
        if self.is_behind {
            return Room { records: 0, bytes: 0 };
        }
        let of_one = self.settings.partition_records.min(self.settings.distance) / 8 + 1;
        let Room { records, bytes } = self.shares.room();
        Room { records: records.min(of_one), bytes }
    }

    /// Pauses a topic by hand: nothing of it starts or is read any more, also of partitions that come later.
    pub(crate) fn hold(&mut self, topic: Arc<str>) {
        self.held_topics.insert(topic);
        self.hold_claims();
        self.attention.notify_one();
    }

    /// Ends the pause of a topic.
    pub(crate) fn let_go(&mut self, cell: &ColorCell<State>, topic: &str) {
        if self.held_topics.remove(topic) {
            self.hold_claims();
            self.pump(cell, Instant::now());
            self.attention.notify_one();
        }
    }

    /// Holds the claims of topics that are paused by hand, and no others.
    pub(crate) fn hold_claims(&mut self) {
        for (id, claimed) in &mut self.claims {
            claimed.is_held = self.held_topics.contains(&claimed.owned.partition.topic);
            claimed.claim.hold(claimed.is_held);
            if !claimed.is_held {
                self.ready.extend(claimed.parked.drain(..).map(|at| (*id, at)));
            }
        }
        self.look_at_all();
    }

    /// The number of partitions has changed, and so have their parts.
    pub(crate) fn divide(&mut self) {
        self.shares.divide(self.claims.values());
        let partitions = self.claims.len();
        self.claims.values_mut().for_each(|claimed| claimed.share_kept_lanes(partitions));
        self.look_at_all();
    }

    pub(crate) fn look_at_all(&mut self) {
        let State { claims, settings, shares, pauses, .. } = self;
        claims.values_mut().for_each(|claimed| look(claimed, settings, shares, pauses));
    }

    /// A partition has more in flight, or less. That concerns the others only if it changes what is for all.
    pub(crate) fn look_at(&mut self, id: u64) {
        if self.shares.take_changed() {
            return self.look_at_all();
        }
        let State { claims, settings, shares, pauses, .. } = self;
        if let Some(claimed) = claims.get_mut(&id) {
            look(claimed, settings, shares, pauses);
        }
    }

    /// What is to be paused, and what to be resumed, in this order.
    pub(crate) fn take_pauses(&mut self) -> Vec<(TopicPartition, bool)> {
        std::mem::take(&mut self.pauses)
    }
}

/// Pauses a partition that has reached a bound, and resumes it when it no longer has.
fn look(
    claimed: &mut Claimed,
    settings: &Settings,
    shares: &Shares,
    pauses: &mut Vec<(TopicPartition, bool)>,
) {
    let wants = claimed.note_bounds(settings, shares);
    if std::mem::replace(&mut claimed.is_paused, wants) != wants {
        pauses.push((claimed.owned.partition.clone(), wants));
    }
}
