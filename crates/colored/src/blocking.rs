//! Calls that may block, on threads of their own.

use crate::driver::current;
use crate::pool::{Class, Pool, Refused};
use colored_core::JoinHandle;

/// Runs `f` on a thread that may block, and gives its result to the handle.
///
/// The threads are the runtime's, made on demand, at most
/// [`Builder::blocking_threads`](crate::runtime::Builder::blocking_threads) of them; further calls
/// wait in line. `f` runs under no color and cannot be interrupted: aborting the handle only keeps
/// it from starting. At shutdown calls that have not begun are cancelled, and those that have are
/// waited for: one that does not return keeps the program from ending, unless the runtime is ended by
/// [`Runtime::shutdown_timeout`](crate::runtime::Runtime::shutdown_timeout) or
/// [`shutdown_background`](crate::runtime::Runtime::shutdown_background). Costs two thread switches; a
/// thread that has had no call for 10 seconds
/// ([`Builder::thread_keep_alive`](crate::runtime::Builder::thread_keep_alive)) ends.
///
/// # Panics
///
/// Outside a runtime; and if the system gives no thread although none is there that could take the
/// call later. A panic of `f` goes to the handle.
#[track_caller]
pub fn spawn_blocking<T, F>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    current::with(|context| submit(&context.driver.pool, Class::Work, f))
}

#[track_caller]
pub(crate) fn submit<T, F>(pool: &Pool, class: Class, f: F) -> JoinHandle<T>
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

/// Runs a name look-up on the pool, where user jobs cannot starve it.
pub(crate) async fn unblock<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let handle = current::with(|context| submit(&context.driver.pool, Class::Lookup, f));
    match handle.await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => std::panic::resume_unwind(payload),
            Err(_) => panic!("the runtime shut down during a blocking call"),
        },
    }
}
