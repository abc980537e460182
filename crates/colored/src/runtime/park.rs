//! [`RuntimePark`]: how the scheduler parks, wakes and times its workers, and what it reports: to the services.

use super::unstarted::Form;
use crate::missing_tokio;
use crate::services::{Services, current};
use crate::wall;
use colored_core::port::Part;
use colored_core::{Park, Scheduler, TaskPanic};
use std::sync::Arc;
use std::time::Instant;

/// A function that hears of each panic of a task.
pub(super) type PanicHook = Arc<dyn Fn(&TaskPanic<'_>) + Send + Sync>;

pub(super) struct RuntimePark {
    pub(super) services: Arc<Services>,
    pub(super) start: Instant,
    pub(super) form: Form,
    pub(super) on_task_panic: Option<PanicHook>,
}

impl Park for RuntimePark {
    fn unpark(&self, worker: usize) {
        self.services.driver.unpark(worker);
    }

    fn now(&self) -> u64 {
        match self.form {
            Form::Simulated => self.services.driver.clock.shown(),
            // 584 years fit.
            _ => wall::since(self.start).as_nanos() as u64,
        }
    }

    fn stir(&self) {
        match self.form {
            Form::Threaded => self.services.driver.check_timer.check_soon(),
            Form::Embedded => self.services.driver.come_back_soon(0),
            // It searches whenever it is at rest.
            Form::Simulated => {}
        }
    }

    fn guest_waits(&self) {
        self.services.driver.wake_for_waiting_guest();
    }

    fn panicked(&self, scheduler: &Scheduler, panic: &TaskPanic<'_>) {
        self.services.observer.on_panic(scheduler, &self.services);
        missing_tokio::explain(panic.payload);
        match &self.on_task_panic {
            Some(hook) => hook(panic),
            None if panic.is_detached => eprintln!("colored: {panic}"),
            None => {}
        }
    }

    fn found_deadlock(&self, scheduler: &Scheduler) {
        self.services.observer.on_deadlock(scheduler, &self.services);
    }

    fn overloaded(&self, scheduler: &Scheduler) {
        self.services.observer.on_overload(scheduler, &self.services);
    }

    fn finish_first(&self, part: Part) {
        self.services.finishers.add(part);
    }

    fn show_shell(&self) {
        current::show(&self.services);
    }
}
