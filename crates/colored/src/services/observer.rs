//! [`Observer`]: what a runtime tells to a diagnosis, if one is attached.

use super::Services;
use colored_core::{LongPoll, RunningSlice, Scheduler, SchedulerHandle};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The events of a runtime. All functions must be quick, and none may panic: they run on threads of the runtime.
pub(crate) trait Observer: Any + Send + Sync {
    /// The calling thread is the worker from now on.
    fn on_worker_start(&self, _worker: usize) {}

    /// The reactor thread begins. It calls the returned function with each of its looks, and drops it at its end. The
    /// function returns in which time the next look has to be, if that does not depend on whether the runtime does
    /// something.
    fn on_reactor_start(&self) -> Look {
        Box::new(|_, _| None)
    }

    /// The reactor thread sees a slice that is a millisecond old or more. Returns how long the slice has had a CPU, and how
    /// long it could have had one, if that is known.
    fn on_slow_slice(
        &self,
        _worker: usize,
        _slice: &RunningSlice,
        _: &Scheduler,
    ) -> Option<(Duration, Duration)> {
        None
    }

    /// The reactor thread has found a poll to be long, for the first time if `is_new`.
    fn on_long_poll(&self, _poll: &LongPoll, _is_new: bool, _: &Scheduler, _: &Services) {}

    /// A task has panicked on this thread.
    fn on_panic(&self, _: &Scheduler, _: &Services) {}

    /// A wait in a section could never end, and is about to become an error.
    fn on_deadlock(&self, _: &Scheduler, _: &Services) {}

    /// Work was refused or shed on this thread.
    fn on_overload(&self, _: &Scheduler, _: &Services) {}

    /// The workers have stopped, and the pool takes no more calls. Unless `waits`, nothing may take long.
    fn on_shutdown(&self, _: &Scheduler, _waits: bool) {}
}

/// What the reactor thread calls with each of its looks.
pub(crate) type Look = Box<dyn FnMut(&SchedulerHandle, &Arc<Services>) -> Option<Duration>>;

/// No diagnosis is attached.
#[cfg(any(test, not(feature = "diagnose")))]
pub(crate) struct Unobserved;

#[cfg(any(test, not(feature = "diagnose")))]
impl Observer for Unobserved {}
