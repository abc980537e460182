//! Which partitions are paused, and how much may be read.
//!
//! Invariant: between two events every partition is paused that has reached a bound, and no other.

use super::claimed::Claimed;
use super::options::Settings;
use super::shares::Shares;
use super::state::State;
use crate::source::{Room, TopicPartition};

impl State {
    /// How much the source may return, from whichever partition that is not paused: it has reached no bound, so an eighth of
    /// each is left, and one.
    pub(crate) fn room(&self) -> Room {
        let of_one = self.settings.partition_records.min(self.settings.distance) / 8 + 1;
        let Room { records, bytes } = self.shares.room();
        Room { records: records.min(of_one), bytes }
    }

    /// The number of partitions has changed, and so have their parts.
    pub(crate) fn divide(&mut self) {
        self.shares.divide(self.claims.values());
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
