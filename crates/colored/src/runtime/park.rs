//! [`DriverPark`]: how the scheduler parks, wakes and times its workers, and what it reports: on the driver.

use crate::driver::Driver;
use crate::missing_tokio;
use crate::trace::Trigger;
use crate::wall;
use colored_core::port::Part;
use colored_core::{Park, Scheduler, TaskPanic};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// A function that hears of each panic of a task.
pub(super) type PanicHook = Arc<dyn Fn(&TaskPanic<'_>) + Send + Sync>;

pub(super) struct DriverPark {
    pub(super) driver: Arc<Driver>,
    pub(super) start: Instant,
    /// There is no monitor thread: the worker looks for deadlocks, in its turns.
    pub(super) is_embedded: bool,
    pub(super) on_task_panic: Option<PanicHook>,
}

impl Park for DriverPark {
    fn unpark(&self, worker: usize) {
        self.driver.unpark(worker);
    }

    fn now(&self) -> u64 {
        // 584 years fit.
        wall::since(self.start).as_nanos() as u64
    }

    fn stir(&self) {
        if self.is_embedded {
            self.driver.come_back_soon(0);
        } else {
            self.driver.check_timer.check_soon();
        }
    }

    fn guest_waits(&self) {
        self.driver.wake_for_waiting_guest();
    }

    fn panicked(&self, scheduler: &Scheduler, panic: &TaskPanic<'_>) {
        self.driver.freeze(Trigger::Panic, scheduler);
        missing_tokio::explain(panic.payload);
        match &self.on_task_panic {
            Some(hook) => hook(panic),
            None if panic.is_detached => eprintln!("colored: {panic}"),
            None => {}
        }
    }

    fn found_deadlock(&self, scheduler: &Scheduler) {
        self.driver.freeze(Trigger::Deadlock, scheduler);
    }

    fn overloaded(&self, scheduler: &Scheduler) {
        self.driver.freeze(Trigger::Overload, scheduler);
    }

    fn finish_first(&self, part: Part) {
        self.driver.finishers.add(part);
    }

    fn shell(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(&self.driver)
    }
}
