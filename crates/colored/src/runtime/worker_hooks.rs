//! The functions that workers call, with their numbers.

use colored_core::{Worker, contain};
use std::sync::Arc;

/// A function that a worker calls with its number.
type Hook = Arc<dyn Fn(usize) + Send + Sync>;

#[derive(Clone, Default)]
pub(super) struct WorkerHooks {
    pub(super) on_start: Option<Hook>,
    pub(super) on_stop: Option<Hook>,
    pub(super) on_park: Option<Hook>,
    pub(super) on_unpark: Option<Hook>,
}

impl WorkerHooks {
    /// Runs the life of a worker between its two hooks. The second one runs also if the life ends by a panic.
    pub(super) fn around(&self, worker: usize, life: impl FnOnce()) {
        let _last = Last { hook: self.on_stop.as_ref(), worker };
        call(self.on_start.as_ref(), worker);
        life();
    }

    /// Runs a sleep of a worker between its two hooks, which are inside of the runtime. The worker counts as parked
    /// meanwhile: what a hook spawns or wakes ends its sleep, or that of another one.
    #[inline]
    pub(super) fn around_sleep(&self, worker: &Worker, sleep: impl FnOnce()) {
        call_inside(self.on_park.as_ref(), worker);
        sleep();
        call_inside(self.on_unpark.as_ref(), worker);
    }
}

struct Last<'a> {
    hook: Option<&'a Hook>,
    worker: usize,
}

impl Drop for Last<'_> {
    fn drop(&mut self) {
        call(self.hook, self.worker);
    }
}

#[inline]
fn call_inside(hook: Option<&Hook>, worker: &Worker) {
    if hook.is_some() {
        let _entered = worker.handle().enter();
        call(hook, worker.index());
    }
}

#[inline]
fn call(hook: Option<&Hook>, worker: usize) {
    if let Some(hook) = hook {
        contain(|| hook(worker));
    }
}
