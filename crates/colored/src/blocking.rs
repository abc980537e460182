//! Calls that may block, on threads of their own.

use crate::driver::{Driver, current, entered};
use crate::pool::{Class, Pool, Refused};
use colored_core::{Handle, JoinHandle};
use std::sync::Arc;

/// Runs `f` on a thread that may block, and gives its result to the handle.
///
/// The runtime makes these threads on demand, at most
/// [`Builder::blocking_threads`](crate::runtime::Builder::blocking_threads) of them; further calls wait
/// in line. `f` runs under no color, but inside the runtime: it may spawn, call cells, and wait by
/// [`Handle::block_on`](crate::Handle::block_on). A running `f` cannot be interrupted: aborting the
/// handle only keeps it from starting. A shutdown cancels calls that have not begun, and waits for
/// calls that have: a call that does not return keeps the program from ending, unless the program ends
/// the runtime by [`Runtime::shutdown_timeout`](crate::runtime::Runtime::shutdown_timeout) or
/// [`shutdown_background`](crate::runtime::Runtime::shutdown_background). Costs two thread switches; a
/// thread that has had no call for 10 seconds
/// ([`Builder::thread_keep_alive`](crate::runtime::Builder::thread_keep_alive)) ends.
///
/// # Panics
///
/// Outside a runtime; and if the system refuses a thread, and the runtime has no blocking thread that
/// could run the call later. A panic of `f` goes to the handle.
#[track_caller]
pub fn spawn_blocking<T, F>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let driver = current::with(|context| Arc::clone(&context.driver));
    match Handle::with_current(|handle| handle.cloned()) {
        Some(handle) => submit_within(&handle, &driver, f),
        // A waker that the driver calls.
        None => submit(&driver.pool, Class::Work, f),
    }
}

/// As [`spawn_blocking`], in that runtime.
#[track_caller]
pub(crate) fn submit_within<T, F>(handle: &Handle, driver: &Arc<Driver>, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (core, context) = (handle.clone(), Arc::clone(driver));
    let inside = move || {
        let _driver = entered::enter(current::Context { driver: context, worker: None });
        let _core = core.enter();
        f()
    };
    submit(&driver.pool, Class::Work, inside)
}

#[track_caller]
fn submit<T, F>(pool: &Pool, class: Class, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = colored_core::blocking(f);
    match pool.submit(class, Box::new(move || job.run())) {
        Ok(()) => {}
        // Dropping a job cancels it, which the handle reports.
        Err(Refused::ShutDown(job)) => drop(job),
        Err(Refused::NoThread(job, error)) => {
            drop(job);
            panic!("the system gives no thread for a blocking call: {error}");
        }
    }
    handle
}

/// Runs a name look-up on the pool, in a class of its own, so that user jobs cannot starve it.
pub(crate) async fn unblock<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let handle = {
        let driver = current::with(|context| Arc::clone(&context.driver));
        submit(&driver.pool, Class::Lookup, f)
    };
    match handle.await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => std::panic::resume_unwind(payload),
            Err(_) => panic!("the runtime shut down during a blocking call"),
        },
    }
}
