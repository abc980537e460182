//! Priorities: how urgent each color is, and how long it may wait for that (G7).

use super::{Entry, Hue, Oracle};
use crate::slab::Key;
use colored_core::Priority;

/// Slices of a worker for one high lane ahead: lanes that are pinned have every other slice, the two queues in
/// which the lane may be take turns, and now and then a lower class comes first.
const PER_HIGH: u64 = 8;

/// Slices of a worker for one lane ahead that is not high: one of 64 is for its class, and its two queues take
/// turns. As many again where the lane came by ways from before there were priorities.
const PER_LOWER: u64 = 4 * 64;

#[derive(Debug, Default)]
pub(crate) struct Classes {
    /// Slices that had begun when the first priority was named.
    used: Option<u64>,
    /// How many colors are high, tasks are urgent, and lanes are urgent for a task that waits: now, and at most at
    /// once.
    high: u64,
    most_high: u64,
}

/// How urgent a color is.
#[derive(Debug, Default)]
pub(super) struct Class {
    base: Priority,
    /// How many urgent entries are scheduled there, or run.
    urgent: u32,
    /// How urgent the entry is that runs.
    pub(super) runs: Urgency,
    /// How many slices had begun when the color became high.
    since: u64,
}

/// The reason for which an entry makes its color urgent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Urgency {
    #[default]
    None,
    /// The entry is a task that was spawned so.
    Own,
    /// A color of the highest class waits for the entry.
    Lent,
}

impl Class {
    fn is_high(&self) -> bool {
        self.base == Priority::High || self.urgent > 0
    }

    /// Whether the class keeps a lane for its color.
    pub(super) fn is_named(&self) -> bool {
        self.base != Priority::Normal
    }
}

impl Classes {
    /// Counts a lane that becomes high, a lane that is high no more, or both.
    pub(super) fn count_high(&mut self, comes: bool, goes: bool) {
        self.high = self.high + u64::from(comes) - u64::from(goes);
        self.most_high = self.most_high.max(self.high);
    }
}

impl Oracle {
    /// The program names a priority. False if the scheduler is closing.
    pub(super) fn name_class(&mut self) -> bool {
        if self.closing {
            return false;
        }
        self.classes.used.get_or_insert(self.slices.begun());
        self.tally.classes += 1;
        true
    }

    /// Whether a priority has been named.
    pub(crate) fn has_classes(&self) -> bool {
        self.classes.used.is_some()
    }

    /// A color gets a priority, and has a lane as long as that is not the normal one.
    pub(crate) fn classify(&mut self, hue: Hue, base: Priority) {
        if !self.name_class() {
            return;
        }
        self.lanes.get_mut(hue).published = true;
        let before = self.lanes.get(hue).class.base;
        self.reclass(hue, |class| class.base = base);
        self.classes.count_high(base == Priority::High, before == Priority::High);
        self.lanes.settle(hue);
    }

    fn reclass(&mut self, hue: Hue, change: impl FnOnce(&mut Class)) {
        let begun = self.slices.begun();
        let class = &mut self.lanes.get_mut(hue).class;
        let before = class.is_high();
        change(class);
        if class.is_high() && !before {
            class.since = begun;
        }
    }

    /// How urgent an entry is for which no task waits.
    pub(super) fn urgency_of(&self, entry: Entry) -> Urgency {
        if self.is_urgent(entry) { Urgency::Own } else { Urgency::None }
    }

    /// How urgent an entry is that a task schedules on another lane, and waits for: as urgent as the color under
    /// which the task runs.
    pub(super) fn lent_by(&self, waiter: Option<Key>) -> Urgency {
        let own = waiter.and_then(|waiter| self.hue_of(waiter));
        let lends =
            self.has_classes() && own.is_some_and(|hue| self.lanes.get(hue).class.is_high());
        if lends { Urgency::Lent } else { Urgency::None }
    }

    /// An entry is scheduled, which may make its color urgent.
    pub(super) fn urge(&mut self, hue: Hue, urgency: Urgency) {
        if urgency != Urgency::None {
            self.reclass(hue, |class| class.urgent += 1);
        }
        self.classes.count_high(urgency == Urgency::Lent, false);
        self.tally.lent += u64::from(urgency == Urgency::Lent);
    }

    /// An entry leaves the queue, or its turn ends, and it makes its color urgent no more.
    pub(super) fn unurge(&mut self, hue: Hue, urgency: Urgency) {
        if urgency != Urgency::None {
            self.reclass(hue, |class| class.urgent -= 1);
        }
        self.classes.count_high(false, urgency == Urgency::Lent);
    }

    /// How much may come before a lane that became ready at that slice, where there are priorities: the slice from
    /// which that counts, the slices for each lane ahead, and how many lanes are ahead, if fewer than all.
    pub(super) fn class_bound(&self, hue: Hue, ready: u64) -> Option<(u64, u64, Option<u64>)> {
        let used = self.classes.used?;
        let class = &self.lanes.get(hue).class;
        if class.is_high() && ready > used {
            return Some((ready.max(class.since), PER_HIGH, Some(self.classes.most_high)));
        }
        Some((ready, PER_LOWER, None))
    }
}
