//! The services of this thread: how a socket or a timer finds its runtime.

use super::Services;
use crate::driver::Driver;
use crate::driver::simulated::Machine;
#[cfg(feature = "sim")]
use colored_core::port::{Kept, StackLocal};
use colored_core::{Entries, SchedulerHandle};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::Arc;
#[cfg(feature = "sim")]
use std::thread::LocalKey;

/// A thread's place in a runtime, as far as I/O is concerned.
#[derive(Debug)]
pub(crate) struct Context {
    /// That of the services, which timers and sockets reach here by one step less.
    pub(crate) driver: Arc<Driver>,
    pub(crate) services: Arc<Services>,
    /// The worker that this thread is, if it is one, and no spare one.
    pub(crate) worker: Option<usize>,
    is_spare: bool,
}

impl Context {
    pub(crate) fn new(services: Arc<Services>, worker: Option<usize>) -> Self {
        Self { driver: Arc::clone(&services.driver), services, worker, is_spare: false }
    }

    /// The place of a spare worker. It has no wheel of its own: its tasks put their timers into the wheels in turn, as a
    /// thread does that is no worker.
    pub(crate) fn of_spare(services: Arc<Services>) -> Self {
        Self { is_spare: true, ..Self::new(services, None) }
    }
}

// Counted, so that what keeps its driver for a short time, as a timer does, counts on a line that no
// other thread counts on.
thread_local!(static CURRENT: Entries<Arc<Context>> = const { Entries::new() });

/// The places of this stack.
#[cfg(feature = "sim")]
pub(crate) struct CurrentOfStack(&'static LocalKey<Entries<Arc<Context>>>);

#[cfg(feature = "sim")]
pub(crate) static CURRENT_OF_STACK: CurrentOfStack = CurrentOfStack(&CURRENT);

#[cfg(feature = "sim")]
impl StackLocal for CurrentOfStack {
    fn exchange(&self, kept: &mut Kept) {
        let kept = kept.get_or_insert_with(|| Box::new(Entries::<Arc<Context>>::new()));
        if let Some(others) = kept.downcast_ref() {
            self.0.with(|current| current.exchange(others));
        }
    }
}

/// Calls `f` with the driver of the runtime that this thread works for; `None` outside a runtime.
///
/// That is this thread's own place, unless it is inside something of another runtime: a closure that has been
/// given to a cell of that one and runs here. `f` must not call code of others, which might enter or leave a
/// runtime.
pub(crate) fn try_with<R>(f: impl FnOnce(&Arc<Context>) -> R) -> Option<R> {
    if let Some(core) = SchedulerHandle::entered_or_held()
        && let Some(services) = of(&core)
        && !on_thread(|context| Arc::ptr_eq(&context.services, &services)).unwrap_or(false)
    {
        return Some(f(&Arc::new(Context::new(services, None))));
    }
    on_thread(f)
}

// Full only inside `of`. Not dropped, so that the destructors of other thread-locals can use it.
thread_local!(static SHOWN: Cell<Option<ManuallyDrop<Arc<Services>>>> = const { Cell::new(None) });

/// The services of a runtime. `None` if its scheduler is of another shell.
pub(crate) fn of(core: &SchedulerHandle) -> Option<Arc<Services>> {
    core.scheduler().show_shell();
    SHOWN.take().map(ManuallyDrop::into_inner)
}

/// The answer to [`of`].
pub(crate) fn show(services: &Arc<Services>) {
    SHOWN.set(Some(ManuallyDrop::new(Arc::clone(services))));
}

/// The simulated machine that this thread works for. To be asked where something is opened.
pub(crate) fn machine() -> Option<Machine> {
    if !cfg!(feature = "sim") {
        return None;
    }
    try_with(|context| context.services.machine.clone()).flatten()
}

/// Calls `f` with this thread's own place, whatever it is inside of.
pub(crate) fn on_thread<R>(f: impl FnOnce(&Arc<Context>) -> R) -> Option<R> {
    CURRENT.with(|current| current.innermost(|context| context.map(f)))
}

/// Whether this thread is a worker, or a spare one, of the runtime that it works for.
pub(crate) fn on_worker() -> bool {
    try_with(|context| context.worker.is_some() || context.is_spare).unwrap_or(false)
}

/// Calls `f` with this thread's place, as [`try_with`].
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub(crate) fn with<R>(f: impl FnOnce(&Arc<Context>) -> R) -> R {
    match try_with(f) {
        Some(result) => result,
        None => panic!(
            "this thread is in no `colored` runtime: sockets, timers, files and blocking calls are made \
             inside `#[colored::main]`, `Runtime::run`, `Runtime::block_on`, or while the guard of \
             `Handle::enter` lives"
        ),
    }
}

/// Makes this the thread's innermost context; the key takes it out.
pub(super) fn enter(context: Arc<Context>) -> u64 {
    CURRENT.with(|current| current.enter(context))
}

/// Takes a context out, wherever it is among them.
pub(super) fn leave(key: u64) -> Option<Arc<Context>> {
    CURRENT.with(|current| current.leave(key))
}
