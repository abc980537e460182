//! The choice of a worker's next lane when there are priorities.

use super::Worker;
use crate::lane::{Priority, ReadyLane};
use crate::sched::classes::DOWN;

/// How often a worker looks for a lower class first, by turns: of this number of lanes that it runs,
/// at least one is of the lower classes, if there are any.
///
/// The value is a guess: it costs the highest class a thirty-second of the time, and a color that is
/// low gets a turn within 64 slices of 200 µs, some 13 ms.
pub(super) const LOWER_STEPS: u32 = 32;

impl Worker {
    /// Finds a lane when a priority has been set.
    #[cold]
    pub(super) fn find_ranked(&mut self) -> Option<ReadyLane> {
        if self.check_behind() {
            self.local.scheduler().classes.append_behind(self.index());
        }
        let lane = self.find_by_class()?;
        self.set_home(&lane);
        Some(lane)
    }

    fn find_by_class(&mut self) -> Option<ReadyLane> {
        let remote = self.local.remote();
        // Pinned lanes have every second step, but not the steps of the lower classes.
        let lower = self.steps.is_multiple_of(LOWER_STEPS);
        if !lower && self.steps.is_multiple_of(2) && remote.has_inbox() {
            return remote.take_inbox();
        }
        let order = if !lower {
            DOWN
        } else if self.steps.is_multiple_of(2 * LOWER_STEPS) {
            [Priority::Low, Priority::Normal, Priority::High]
        } else {
            [Priority::Normal, Priority::Low, Priority::High]
        };
        for class in order {
            if let Some(lane) = self.find_of_class(class) {
                return Some(lane);
            }
        }
        let lane = DOWN.into_iter().find_map(|class| self.steal_ranked(class));
        lane.or_else(|| self.local.remote().take_inbox())
    }

    /// Looks in this worker's queue and the shared one; for the highest class in all workers' queues.
    fn find_of_class(&mut self, class: Priority) -> Option<ReadyLane> {
        if class == Priority::Normal
            && let Some(lane) = self.find_left_over()
        {
            return Some(lane);
        }
        let classes = &self.local.scheduler().classes;
        let (own, for_all) = (self.index(), classes.for_all());
        // The queues take turns, so that lanes that keep coming to one do not starve the other. They
        // take turns in the steps that pinned lanes leave and, by the bit of 64, in the steps for the
        // lower classes.
        let own_first = ((self.steps / 2) ^ (self.steps / (2 * LOWER_STEPS))).is_multiple_of(2);
        let (first, second) = if own_first { (own, for_all) } else { (for_all, own) };
        let lane = classes.take(first, &[class]).or_else(|| classes.take(second, &[class]));
        lane.or_else(|| match class {
            Priority::High => self.steal_ranked(class),
            // Does the same in other workers' queues.
            Priority::Normal => self.find_plain(),
            Priority::Low => None,
        })
    }

    /// Takes a lane that was queued here before the first priority was set: it has waited longer than
    /// all ranked lanes.
    fn find_left_over(&mut self) -> Option<ReadyLane> {
        let next = self.local.remote().take_next();
        self.fetch_home();
        let queued = next.or_else(|| self.local.deque.pop());
        queued.or_else(|| self.local.scheduler().injector.pop())
    }

    fn steal_ranked(&mut self, class: Priority) -> Option<ReadyLane> {
        let none = class == Priority::High && !self.local.scheduler().classes.has_high();
        if none || !self.local.scheduler().steals {
            return None;
        }
        let mut others = self.others();
        let classes = &self.local.scheduler().classes;
        let (lane, victim) =
            others.find_map(|victim| Some((classes.take(victim, &[class])?, victim)))?;
        self.local.remote().counters.steals.add(1);
        self.record_steal(&lane, victim);
        Some(lane)
    }
}
