//! One slice on a guest.

use super::pace::Pace;
use super::scheduler::Scheduler;
use crate::kernel::lane::Runner;

/// One slice on a guest.
pub(crate) struct GuestRunner<'a> {
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) pin: u32,
    /// What the turns so far weigh.
    pub(crate) weight: i64,
    /// When the first poll was over. Most slices have no other poll, and read no clock.
    pub(crate) start: u64,
    pub(crate) pace: Pace,
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
            self.pace.look(self.scheduler);
            self.start = self.pace.now;
        } else {
            self.pace.tick(self.scheduler);
        }
        let nanos = self.pace.now - self.start;
        self.weight < self.scheduler.slice_weight && nanos < self.scheduler.slice_nanos
    }
}
