//! Calls that may block, on threads of their own.

mod class;
pub(crate) mod running;
mod serial;

pub use self::class::{BlockingClass, BlockingMetrics};

use crate::error_context::{self, Heard};
use crate::pool::{Class, Job, Pool, Refused};
use crate::services::{Services, current, entered};
use colored_core::{JoinError, JoinHandle, SchedulerHandle};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

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
    let services = current::with(|context| Arc::clone(&context.services));
    match SchedulerHandle::with_current(|handle| handle.cloned()) {
        Some(handle) => submit_within(&handle, &services, f),
        // A waker that the driver calls.
        None => submit(&services.pool, Class::Work, f),
    }
}

/// Calls `f`, which may block or compute for long, at once, in this poll. Meanwhile other threads run the other colors of
/// this worker.
///
/// `f` may borrow, and runs under the task's color, which nothing else runs under until the poll returns; so this fits
/// where the color's state is what `f` works on, and where no other work of the color is urgent. A call costs a few
/// nanoseconds. If `f` goes on, the reactor thread notices within 10 ms, and calls a spare worker
/// ([`Tuning::spare_workers`](crate::runtime::Tuning::spare_workers)), or a parked one, for the worker's other colors, its timers
/// and its sockets. A poll that blocks without this function is treated alike when it has lasted for
/// [`Builder::long_poll`](crate::Builder::long_poll), and is reported as well; this function says that it is on
/// purpose. Outside a worker, as in [`spawn_blocking`], the call just runs `f`.
///
/// # Panics
///
/// A panic of `f` goes to the caller.
///
/// # Examples
///
/// ```
/// # #[colored::main]
/// # async fn main() {
/// let mut words = vec!["red", "green", "blue"];
/// // It may take long, and borrows.
/// colored::block_in_place(|| words.sort());
/// assert_eq!(words, ["blue", "green", "red"]);
/// # }
/// ```
pub fn block_in_place<R>(f: impl FnOnce() -> R) -> R {
    colored_core::block_in_place(f)
}

/// Tries an operation without blocking, and runs it on a thread that may block only if the attempt
/// would have blocked.
///
/// `attempt` runs at once, in this poll, under the task's color. It returns `Some` with the result,
/// or `None` if it would have to wait. Then `otherwise` runs on a thread of [`spawn_blocking`], under
/// no color, and the task goes on with its result. An attempt that succeeds costs no more than the
/// call of a closure: no allocation, no thread switch.
///
/// Cancel safe: if the future is dropped, `otherwise` does not begin; if it has begun, it goes on, and
/// its result is dropped.
///
/// # Errors
///
/// [`JoinError`] if the runtime shuts down before `otherwise` begins, or `otherwise`
/// panics. A panic of `attempt` goes to the caller.
///
/// # Panics
///
/// As [`spawn_blocking`], if `attempt` returns `None`.
///
/// # Examples
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// # #[colored::main]
/// # async fn main() {
/// let counter = Arc::new(Mutex::new(0));
/// let same = Arc::clone(&counter);
/// let increment = |counter: &mut u64| { *counter += 1; *counter };
/// let value = colored::lazy(
///     || counter.try_lock().ok().map(|mut counter| increment(&mut counter)),
///     move || increment(&mut same.lock().unwrap()),
/// );
/// assert_eq!(value.await.unwrap(), 1);
/// # }
/// ```
pub async fn lazy<T, A, F>(attempt: A, otherwise: F) -> Result<T, JoinError>
where
    A: FnOnce() -> Option<T>,
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match attempt() {
        Some(result) => Ok(result),
        None => AbortOnDrop(spawn_blocking(otherwise)).await,
    }
}

/// A handle whose call is cancelled if nobody waits for it any more.
#[derive(Debug)]
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// As [`spawn_blocking`], in that runtime.
#[track_caller]
pub(crate) fn submit_within<T, F>(
    handle: &SchedulerHandle,
    services: &Arc<Services>,
    f: F,
) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    submit(&services.pool, Class::Work, inside(handle, services, f))
}

/// `f` inside a runtime, on a thread that is not.
fn inside<T, F>(
    core: &SchedulerHandle,
    services: &Arc<Services>,
    f: F,
) -> impl FnOnce() -> T + Send + 'static
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (core, services) = (core.clone(), Arc::clone(services));
    move || {
        let _services = entered::enter(current::Context::new(Arc::clone(&services), None));
        let _tokio = services.tokio.enter();
        let _core = core.enter();
        f()
    }
}

#[track_caller]
fn submit<T, F>(pool: &Pool, class: Class, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = call(f);
    cancelled_or_panic(pool.submit(class, job));
    handle
}

/// A call for a thread, which then knows its id, and the handle of the call.
#[track_caller]
fn call<T, F>(f: F) -> (Job, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = colored_core::blocking(f);
    let id = handle.id();
    (Job::new(move || running::within(id, || job.run())), handle)
}

/// After a job has been submitted: the end of the pool cancels it, and the lack of a thread is a panic.
#[track_caller]
fn cancelled_or_panic(submitted: Result<(), Refused>) {
    match submitted {
        Ok(()) => {}
        // Dropping a job cancels it, which the handle reports.
        Err(Refused::ShutDown(job)) => drop(job),
        Err(Refused::NoThread(job, error)) => {
            drop(job);
            panic!("the system gives no thread for a blocking call: {error}");
        }
    }
}

/// Runs `f` on a thread of this class of the current runtime.
///
/// # Errors
///
/// If the system gives no thread.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub(crate) fn defer<T, F>(class: Class, f: F) -> io::Result<Deferred<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let services = current::with(|context| Arc::clone(&context.services));
    defer_to(&services.pool, class, f)
}

/// As [`defer`], on that pool.
#[track_caller]
pub(crate) fn defer_to<T, F>(pool: &Pool, class: Class, f: F) -> io::Result<Deferred<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, result) = job(f);
    match pool.submit(class, Job::new(job)) {
        Ok(()) => Ok(result),
        // Dropping a job cancels it, which the future reports.
        Err(Refused::ShutDown(job)) => {
            drop(job);
            Ok(result)
        }
        Err(Refused::NoThread(_, error)) => {
            // The system's code is that of an operation which would block, and callers would try again at once.
            let text = format!("the system gives no thread for a blocking call: {error}");
            Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
        }
    }
}

/// A job that somebody has to run, and its result. Dropping the job cancels it.
#[track_caller]
pub(crate) fn job<T, F>(f: F) -> (impl FnOnce() + Send, Deferred<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = colored_core::blocking(|| error_context::listened(f));
    (move || job.run(), Deferred(AbortOnDrop(handle)))
}

/// The result of a [`job`], or `None` if the runtime has shut down before the call began. A panic of
/// the call goes on here. Dropping this cancels a call that has not begun.
#[derive(Debug)]
#[must_use]
pub(crate) struct Deferred<T>(AbortOnDrop<(T, Option<Box<Heard>>)>);

impl<T> Future for Deferred<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(&mut self.0).poll(cx).map(|done| match done {
            Ok((result, met)) => {
                error_context::hear(met);
                Some(result)
            }
            Err(error) => match error.try_into_panic() {
                Ok(payload) => std::panic::resume_unwind(payload),
                Err(_) => None,
            },
        })
    }
}

/// The error of a call that the end of its runtime has cancelled.
pub(crate) fn shut_down() -> io::Error {
    io::Error::other("the runtime has shut down before a thread began the call")
}
