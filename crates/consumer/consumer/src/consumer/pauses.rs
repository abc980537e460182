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
use super::shared::{Sum, Sums};
use super::shares::{InFlight, Shares};
use super::state::State;
use crate::source::{Room, TopicPartition};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// So many reports of runs may be unheard while the source is read. A guess.
pub(super) const BEHIND: usize = 2_048;

/// The bounds that a partition has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    count: bool,
    distance: bool,
    /// Of records, and of bytes.
    shares: [bool; 2],
}

impl State {
    /// How much the source may return, from whichever partition that is not paused: it has reached no bound, so an eighth of
    /// each is left, and one. Nothing while much that runs have told is not heard: else new records would come before those that are
    /// done have left the memory.
    pub(crate) fn room(&self) -> Room {
        let mut sums = self.sums();
        // Ordering: Relaxed, the lock orders it: who hears a part looks behind it whether the driver waits for that.
        sums.is_behind = self.shared.unheard.load(Ordering::Relaxed) > BEHIND;
        if sums.is_behind {
            return Room { records: 0, bytes: 0 };
        }
        let of_one = self.settings.partition_records.min(self.settings.distance) / 8 + 1;
        let Room { records, bytes } = sums.shares.room();
        Room { records: records.min(of_one), bytes }
    }

    /// Pauses a topic by hand: nothing of it starts or is read any more, also of partitions that come later.
    pub(crate) fn hold(&mut self, topic: Arc<str>) {
        self.hold_claims(&topic, true);
        self.held_topics.insert(topic);
        self.shared.attention.notify_one();
    }

    /// Ends the pause of a topic.
    pub(crate) fn let_go(&mut self, topic: &str) {
        if self.held_topics.remove(topic) {
            self.hold_claims(topic, false);
            self.shared.attention.notify_one();
        }
    }

    fn hold_claims(&mut self, topic: &str, holds: bool) {
        for (id, entry) in &self.claims {
            if *entry.owned().partition.topic == *topic {
                entry.claim.hold(holds);
                self.shared.sums().close(*id, entry.is_closed());
                if !holds {
                    entry.claim.post(Claimed::unpark);
                }
            }
        }
    }

    /// What is to be paused, and what to be resumed, in this order.
    pub(crate) fn take_pauses(&mut self) -> Vec<(TopicPartition, bool)> {
        mem::take(&mut self.sums().pauses)
    }
}

impl Sums {
    /// A claim is given so much, which it is to take. `is_closed` if that is all.
    pub(crate) fn hand(&mut self, id: u64, more: InFlight, is_closed: bool) {
        self.figures.polled += more.records as u64;
        if let Some(sum) = self.of.get_mut(&id) {
            sum.untaken += more.records;
            self.shares.add(&mut sum.in_flight, more);
        }
        self.close(id, is_closed);
    }

    /// Nothing is to be read of a claim, or something may be.
    pub(crate) fn close(&mut self, id: u64, is_closed: bool) {
        if let Some(sum) = self.of.get_mut(&id) {
            sum.is_closed = is_closed;
            self.look_at(id);
        }
    }

    /// A claim is to go.
    pub(crate) fn close_for_good(&mut self, id: u64, is_lost: bool) {
        if let Some(sum) = self.of.get_mut(&id) {
            sum.is_lost |= is_lost;
        }
        self.close(id, true);
    }

    pub(crate) fn look_at_all(&mut self) {
        let Sums { of, settings, shares, pauses, .. } = self;
        of.values_mut().for_each(|sum| sum.look(settings, shares, pauses));
    }

    /// A partition has more in flight, or less. That concerns the others only if it changes what is for all.
    pub(crate) fn look_at(&mut self, id: u64) {
        if self.shares.take_changed() {
            return self.look_at_all();
        }
        let Sums { of, settings, shares, pauses, .. } = self;
        if let Some(sum) = of.get_mut(&id) {
            sum.look(settings, shares, pauses);
        }
    }
}

impl Sum {
    /// Pauses a partition that has reached a bound, and resumes it when it no longer has.
    fn look(
        &mut self,
        settings: &Settings,
        shares: &Shares,
        pauses: &mut Vec<(TopicPartition, bool)>,
    ) {
        self.reached = self.bounds_reached(settings, shares);
        let wants = self.is_closed || self.reached != Reached::default();
        if mem::replace(&mut self.is_paused, wants) != wants {
            pauses.push((self.partition.clone(), wants));
        }
    }

    /// Which bounds the partition has reached. A reached bound of records or bytes counts as reached until the partition holds
    /// half, so that no record pauses and resumes it. Each bound is judged by itself: another one may have paused the partition.
    fn bounds_reached(&self, settings: &Settings, shares: &Shares) -> Reached {
        let few = settings.partition_records - settings.partition_records / 8;
        let most = if self.reached.count { few / 2 } else { few };
        let near = settings.distance - settings.distance / 8;
        Reached {
            count: self.in_flight.records >= most.max(1),
            distance: self.distance + self.untaken >= near.max(1),
            shares: shares.are_reached(self.in_flight, self.reached.shares),
        }
    }
}
