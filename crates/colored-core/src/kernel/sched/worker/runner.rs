//! One slice: on a worker, and on a guest.

use crate::hooks::looks;
use crate::kernel::lane::Runner;
use crate::kernel::sched::remote::{MAY_BE_DROPPED_ANYWHERE, Remote};
use crate::kernel::sched::scheduler::{CoarseClock, Scheduler};
use crate::kernel::task::Named;

/// One slice on a worker.
pub(crate) struct SliceRunner<'a> {
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) remote: &'a Remote,
    pub(crate) pin: u32,
    pub(crate) max_nanos: u64,
    pub(crate) polls: u32,
    /// What the other turns may weigh.
    pub(crate) left: i64,
    pub(crate) start: u64,
    pub(crate) clock: &'a mut CoarseClock,
}

impl Runner for SliceRunner<'_> {
    #[inline]
    fn may_run(&self, pin: u32) -> bool {
        pin == 0 || pin & !MAY_BE_DROPPED_ANYWHERE == self.pin
    }

    #[inline]
    fn is_closing(&self) -> bool {
        self.scheduler.is_closing()
    }

    #[inline]
    fn begin_turn(&self, task: Option<Named>) {
        self.remote.running.begin_turn(task);
    }

    #[inline]
    fn count_turn(&mut self, weight: i64) -> bool {
        self.polls += 1;
        self.left -= weight;
        if self.clock.tick(self.scheduler) {
            looks::looked(self.remote, self.clock, true);
            // Between two looks the time stands still.
            return self.left > 0 && self.clock.now - self.start < self.max_nanos;
        }
        self.left > 0
    }
}

/// One slice on a guest.
pub(crate) struct GuestRunner<'a> {
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) pin: u32,
    /// What the turns so far weigh.
    pub(crate) weight: i64,
    /// When the first poll was over. Most slices have no other poll, and read no clock.
    pub(crate) start: u64,
    pub(crate) clock: CoarseClock,
}

impl Runner for GuestRunner<'_> {
    fn may_run(&self, pin: u32) -> bool {
        pin == self.pin
    }

    fn is_closing(&self) -> bool {
        self.scheduler.is_closing()
    }

    fn count_turn(&mut self, weight: i64) -> bool {
        let is_first = self.weight == 0;
        self.weight += weight;
        if is_first {
            self.clock.look(self.scheduler);
            self.start = self.clock.now;
        } else {
            self.clock.tick(self.scheduler);
        }
        let nanos = self.clock.now - self.start;
        self.weight < self.scheduler.slice_weight && nanos < self.scheduler.slice_nanos
    }
}
