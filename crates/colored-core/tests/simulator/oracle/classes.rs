//! Priorities: how urgent each color is, and what follows for how long it may wait (G7).

use super::{Hue, Oracle};
use colored_core::Priority;

#[derive(Debug, Default)]
pub(crate) struct Classes {
    /// Slices that had begun when the first priority was named.
    used: Option<u64>,
    /// Colors that are high, and tasks that are urgent: now, and at most at once.
    high: u64,
    most_high: u64,
}

impl Classes {
    fn add_high(&mut self) {
        self.high += 1;
        self.most_high = self.most_high.max(self.high);
    }
}

impl Oracle {
    /// A priority is named. False if the scheduler has none.
    pub(crate) fn name_class(&mut self) -> bool {
        if self.policy.is_flat() || self.closing {
            return false;
        }
        self.classes.used.get_or_insert(self.slices.begun());
        true
    }

    /// Whether a priority has been named.
    pub(crate) fn has_classes(&self) -> bool {
        self.classes.used.is_some()
    }

    /// A color is given a priority, and has a lane as long as that is not the normal one.
    pub(crate) fn classify(&mut self, hue: Hue, class: Priority) {
        if !self.name_class() {
            return;
        }
        let begun = self.slices.begun();
        let lane = self.lanes.get_mut(hue);
        let before = std::mem::replace(&mut lane.class, class);
        lane.published = true;
        if before != class {
            lane.raised = begun;
        }
        self.classes.high -= u64::from(before == Priority::High);
        if class == Priority::High {
            self.classes.add_high();
        }
        self.lanes.settle(hue);
    }

    /// An urgent task is spawned, or has gone.
    pub(crate) fn urgent_task(&mut self, there: bool) {
        if there {
            self.classes.add_high();
        } else {
            self.classes.high -= 1;
        }
    }

    /// How much may come before a lane that became ready at that slice, where there are priorities:
    /// since when that counts, the slices of each lane ahead, and how many lanes are.
    pub(super) fn class_bound(&self, hue: Hue, ready: u64) -> Option<(u64, u64, Option<u64>)> {
        let used = self.classes.used?;
        let lane = self.lanes.get(hue);
        let urgent = lane.class == Priority::High && ready > used;
        if urgent {
            return Some((ready.max(lane.raised), PER_HIGH, Some(self.classes.most_high)));
        }
        Some((ready, PER_LOW, None))
    }
}

/// Slices of a worker for one that is high: what is pinned has every other one, what comes from
/// outside every other one of the rest, and now and then a lower class has one.
const PER_HIGH: u64 = 8;

/// Slices of a worker for one of the lowest class: one of 64, which its two queues have by turns. As many
/// again where the lane came by ways from before there were priorities.
const PER_LOW: u64 = 4 * 64;
