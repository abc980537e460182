//! Priorities, as users set them and workers follow them: where a lane is queued by its class, and which one is next.

use super::Priority;
use super::classes::{Classes, DOWN};
use crate::hooks::workers as hooks;
use crate::kernel::color::Color;
use crate::kernel::lane::{Lane, ReadyLane};
use crate::kernel::sched::scheduler::{Destination, Routing, Scheduler, Since};
use crate::kernel::sched::worker::{FindByClass, Worker};
use crate::kernel::sched::{SchedulerHandle, local};

impl SchedulerHandle {
    /// Gives a color a priority against other colors, from now on and until it is given another. A
    /// queued color that becomes more urgent moves to the queue of its new class at once. A color
    /// that becomes less urgent moves after its next turn.
    ///
    /// The color keeps a lane until its priority is [`Priority::Normal`] again or the scheduler
    /// shuts down. The call costs a lock and a look-up.
    pub fn set_priority(&self, color: Color, priority: Priority) {
        let scheduler = self.scheduler();
        if scheduler.is_cancel_sent() {
            return;
        }
        Classes::begin(scheduler);
        let lane = self.lane(color);
        let mut bases = scheduler.classes.bases.lock();
        let raised = lane.priority.set_base(priority);
        let old = match priority {
            Priority::Normal => bases.remove(&color),
            _ => bases.insert(color, lane.clone()),
        };
        // The last reference to a lane is given back under no lock.
        drop(bases);
        drop(old);
        if let Some(class) = raised {
            scheduler.classes.raise(scheduler, &lane, class);
        }
        drop(lane);
        scheduler.drain_if_stopped();
    }

    /// The priority that [`SchedulerHandle::set_priority`] has given a color.
    #[must_use]
    pub fn priority(&self, color: Color) -> Priority {
        let bases = self.scheduler().classes.bases.lock();
        bases.get(&color).map_or(Priority::Normal, |lane| lane.priority.base())
    }
}

impl Routing for Classes {
    fn begin(scheduler: &Scheduler) {
        if scheduler.common.use_classes() {
            scheduler.remotes.iter().for_each(|remote| remote.set_policy_or_classes());
        }
    }

    fn place(
        &self,
        scheduler: &Scheduler,
        own: Option<usize>,
        lane: ReadyLane,
        since: Since,
        behind: bool,
    ) -> Option<ReadyLane> {
        if !scheduler.common.has_classes() {
            return scheduler.route(own, lane, since);
        }
        scheduler.queue_by_class(own, lane, since, behind);
        None
    }

    fn raise(&self, scheduler: &Scheduler, lane: &Lane, to: Priority) {
        if let Some(place) = self.move_up(lane, to) {
            scheduler.wake_for(local::index_in(scheduler), place, true);
        }
    }
}

impl Scheduler {
    /// Queues a lane that has become runnable, or has had its slice, by its class. `own` is the worker that has it, if
    /// one has.
    fn queue_by_class(&self, own: Option<usize>, lane: ReadyLane, since: Since, behind: bool) {
        let place = self.place_of(own, lane.lane());
        let (class, lanes) = self.classes.put(place, lane, behind);
        let urgent = class == Priority::High && since == Since::Scheduled;
        let more = urgent || lanes > 1 || self.has_left_over(place);
        self.wake_for(own, place, more);
    }

    /// Whether that worker still has a lane that was queued before the first priority was set.
    fn has_left_over(&self, place: usize) -> bool {
        let remote = self.remotes.get(place);
        remote.is_some_and(|remote| remote.has_next() || !remote.stealer.is_empty())
    }

    fn place_of(&self, own: Option<usize>, lane: &Lane) -> usize {
        let for_all = self.classes.for_all();
        match self.destination(own, lane) {
            Destination::Usual => own.unwrap_or(for_all),
            Destination::Worker(place) => place,
            Destination::Everybody => for_all,
        }
    }

    /// To be called after a lane was put there, or moved up. `more`: the worker there has more lanes than the one that
    /// it runs next.
    fn wake_for(&self, own: Option<usize>, place: usize, more: bool) {
        if place == self.classes.for_all() {
            self.notify();
        } else if own == Some(place) {
            if more && self.steals {
                self.notify();
            }
        } else {
            self.call_or_notify(place);
        }
    }
}

/// How often a worker looks for a lower class first, by turns: of this number of lanes that it runs,
/// at least one is of the lower classes, if there are any.
///
/// The value is a guess: it costs the highest class a thirty-second of the time, and a color that is
/// low gets a turn within 64 slices of 200 µs, some 13 ms.
const LOWER_STEPS: u32 = 32;

impl FindByClass for Worker {
    #[cold]
    fn find_by_class(&mut self) -> Option<ReadyLane> {
        if self.check_behind() {
            self.local.scheduler().classes.append_behind(self.index());
        }
        let lane = self.find_ranked()?;
        self.set_home(&lane);
        Some(lane)
    }
}

impl Worker {
    fn find_ranked(&mut self) -> Option<ReadyLane> {
        let remote = self.local.remote();
        // Pinned lanes have every second step, but not the steps of the lower classes.
        let lower = self.steps.is_multiple_of(LOWER_STEPS);
        if !lower && self.steps.is_multiple_of(2) && remote.inbox.has_some() {
            return remote.inbox.take();
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
        lane.or_else(|| self.local.remote().inbox.take())
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
        hooks::stolen(&self.local, self.now(), &lane, victim);
        Some(lane)
    }
}
