//! The functions by which users set priorities.

use super::Classes;
use crate::color::Color;
use crate::lane::Priority;
use crate::sched::{Scheduler, SchedulerHandle};

impl SchedulerHandle {
    /// Gives a color a priority against other colors, from now on and until it is given another. A
    /// queued color that becomes more urgent moves to the queue of its new class at once. A color
    /// that becomes less urgent moves after its next turn.
    ///
    /// The color keeps a lane until its priority is [`Priority::Normal`] again or the scheduler
    /// shuts down. The call costs a lock and a look-up.
    pub fn set_priority(&self, color: Color, priority: Priority) {
        let scheduler = self.scheduler();
        if scheduler.is_told() {
            return;
        }
        scheduler.use_classes();
        let lane = self.lane(color);
        let mut bases = scheduler.classes.bases.lock();
        let raised = lane.set_priority(priority);
        let old = match priority {
            Priority::Normal => bases.remove(&color),
            _ => bases.insert(color, lane.clone()),
        };
        // The last reference to a lane is given back under no lock.
        drop(bases);
        drop(old);
        if let Some(class) = raised {
            scheduler.move_up(&lane, class);
        }
        drop(lane);
        scheduler.drain_if_stopped();
    }

    /// The priority that [`SchedulerHandle::set_priority`] has given a color.
    #[must_use]
    pub fn priority(&self, color: Color) -> Priority {
        let bases = self.scheduler().classes.bases.lock();
        bases.get(&color).map_or(Priority::Normal, |lane| lane.base_priority())
    }
}

impl Scheduler {
    /// Priorities are used from now on.
    pub(in crate::sched) fn use_classes(&self) {
        if self.common.use_classes() {
            self.remotes.iter().for_each(|remote| remote.set_unusual());
        }
    }
}

impl Classes {
    /// Forgets all priorities: the lanes that they keep own the scheduler.
    pub(in crate::sched) fn forget(&self) {
        let bases = std::mem::take(&mut *self.bases.lock());
        for lane in bases.into_values() {
            // A lane that is queued stays where it is.
            let _raised = lane.set_priority(Priority::Normal);
        }
    }
}
