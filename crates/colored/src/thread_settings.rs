//! [`ThreadSettings`]: the stack size and the hooks of the threads of a runtime.

use colored_core::{Worker, contain};
use std::fmt;
use std::sync::Arc;
use std::thread;

/// A function that a thread calls when it begins, or when it ends.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

/// The settings that all threads of a runtime share.
#[derive(Clone, Default)]
pub(crate) struct ThreadSettings {
    /// In bytes; none is the standard library's default.
    pub(crate) stack_size: Option<usize>,
    pub(crate) on_start: Option<Hook>,
    pub(crate) on_stop: Option<Hook>,
    pub(crate) on_park: Option<Hook>,
    pub(crate) on_unpark: Option<Hook>,
}

impl ThreadSettings {
    /// A thread that is about to be spawned.
    pub(crate) fn thread(&self, name: String) -> thread::Builder {
        let thread = thread::Builder::new().name(name);
        match self.stack_size {
            Some(bytes) => thread.stack_size(bytes),
            None => thread,
        }
    }

    /// The body of a thread with the hooks before and after it. The second hook runs also if the body
    /// panics; neither runs if this is never run.
    pub(crate) fn around<F>(&self, body: F) -> impl FnOnce() + Send + use<F>
    where
        F: FnOnce() + Send + 'static,
    {
        let (on_start, on_stop) = (self.on_start.clone(), self.on_stop.clone());
        move || {
            let _last = Last(on_stop);
            if let Some(hook) = on_start {
                contain(|| hook());
            }
            body();
        }
    }
}

impl ThreadSettings {
    /// Runs a sleep of a worker between its two hooks, which are inside of the runtime. The worker counts as parked
    /// meanwhile: what a hook spawns or wakes ends its sleep, or that of another one.
    #[inline]
    pub(crate) fn around_sleep(&self, worker: &Worker, sleep: impl FnOnce()) {
        call_inside(self.on_park.as_ref(), worker);
        sleep();
        call_inside(self.on_unpark.as_ref(), worker);
    }
}

#[inline]
fn call_inside(hook: Option<&Hook>, worker: &Worker) {
    if let Some(hook) = hook {
        let _entered = worker.handle().enter();
        contain(|| hook());
    }
}

/// Calls the hook when it is dropped.
struct Last(Option<Hook>);

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(hook) = self.0.take() {
            contain(|| hook());
        }
    }
}

impl fmt::Debug for ThreadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadSettings")
            .field("stack_size", &self.stack_size)
            .field("on_start", &self.on_start.is_some())
            .field("on_stop", &self.on_stop.is_some())
            .finish_non_exhaustive()
    }
}
