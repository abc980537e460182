//! Waits in common shapes: for a time, for a turn, for two closures, with the color held.

use crate::fiber::{Fiber, Settings};
use crate::size;
use crate::wait::wait;
use colored::time::Duration;
use std::panic::Location;

/// Waits for this time, never less; see [`colored::time::sleep`].
///
/// # Panics
///
/// As [`wait`].
#[inline]
#[track_caller]
pub fn sleep(duration: Duration) {
    wait(colored::time::sleep(duration));
}

/// Lets the work that is scheduled under the color run first; see [`colored::yield_now`].
///
/// # Panics
///
/// As [`wait`].
#[inline]
#[track_caller]
pub fn yield_now() {
    wait(colored::yield_now());
}

/// A closure that runs on a stack of its own, as a future in the task that polls it, on the thread that polls it first.
///
/// [`wait`] inside the closure suspends this future, and not the code that polls it. So closures and futures nest in each
/// other, and what a future can be given, a closure can be given: a time-out, the scope of a task-local, a branch of
/// `select!`.
///
/// ```
/// use colored::time::{Duration, timeout};
/// use colored_stackful as stackful;
///
/// # #[colored::main(workers = 2)]
/// # async fn main() {
/// let task = stackful::spawn(7, || {
///     let mut steps = 0;
///     let endless = stackful::future(|| {
///         loop {
///             stackful::sleep(Duration::from_millis(1));
///             steps += 1;
///         }
///     });
///     let late: Result<(), _> = stackful::wait(timeout(Duration::from_millis(20), endless));
///     assert!(late.is_err());
///     steps
/// });
/// assert!(task.await.unwrap() <= 20);
/// # }
/// ```
///
/// Not cancel safe: a drop after the first poll unwinds the stack. Costs a stack of 256 KiB of the pool, from the first
/// poll to the end.
///
/// # Panics
///
/// A poll panics with the panic of the closure; after the end; and if the system has no memory for the stack.
#[track_caller]
pub fn future<F, T>(f: F) -> Fiber<F, T>
where
    F: FnOnce() -> T,
{
    let site = Location::caller();
    Fiber::new(f, Settings { size: size::DEFAULT, name: None, site, moves: false })
}

/// Runs two closures as parts of this task, and returns when both have ended. While one of them waits, the other goes on.
/// They do not run in parallel: for that, spawn one of them.
///
/// Costs two stacks of 256 KiB of the pool.
///
/// # Panics
///
/// As [`wait`], and with the panic of a closure; the other one is unwound then, if it has not ended.
#[track_caller]
pub fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    let (a, b) = (future(a), future(b));
    wait(async { colored::join!(a, b) })
}

/// Holds the color while the closure runs, also while it waits; see [`colored::exclusive`](colored::exclusive()). Inside
/// it, a wait that could go on only when the section ends becomes an error.
///
/// Costs a stack of 256 KiB of the pool.
///
/// # Panics
///
/// As [`wait`], and with the panic of the closure.
#[track_caller]
pub fn exclusive<T>(f: impl FnOnce() -> T) -> T {
    wait(colored::exclusive(future(f)))
}
