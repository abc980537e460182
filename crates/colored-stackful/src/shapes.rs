//! Waits in common shapes: for a time, for a turn, for two closures, with the color held.

use crate::fiber::{Fiber, Settings};
use crate::size;
use crate::wait::wait;
use colored::time::Duration;
use std::panic::Location;

/// Waits for this time; see [`colored::time::sleep`].
///
/// # Panics
///
/// As [`wait`].
#[track_caller]
pub fn sleep(duration: Duration) {
    wait(colored::time::sleep(duration));
}

/// Lets the other work of the color have its turn; see [`colored::yield_now`].
///
/// # Panics
///
/// As [`wait`].
#[track_caller]
pub fn yield_now() {
    wait(colored::yield_now());
}

/// A closure that runs on a stack of its own, as a future, in the task that polls it.
///
/// [`wait`] inside the closure suspends this future, and not the code that polls it. So closures and futures nest in each
/// other.
///
/// Dropping it after its first poll unwinds the stack, and so drops what the closure has. It is as cancel safe as that.
#[track_caller]
pub fn future<F, T>(f: F) -> Fiber<F, T>
where
    F: FnOnce() -> T,
{
    Fiber::new(f, Settings { size: size::DEFAULT, name: None, site: Location::caller() })
}

/// Runs two closures as parts of this task, and returns when both have ended. While one of them waits, the other goes on.
/// They do not run in parallel.
///
/// # Panics
///
/// As [`wait`], and with the panic of a closure; the other one is unwound then, if it has not ended.
#[track_caller]
pub fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    let (a, b) = (future(a), future(b));
    wait(async { colored::join!(a, b) })
}

/// Holds the color while the closure runs, also while it waits; see [`colored::exclusive`](colored::exclusive()).
///
/// # Panics
///
/// As [`wait`], and with the panic of the closure.
#[track_caller]
pub fn exclusive<T>(f: impl FnOnce() -> T) -> T {
    wait(colored::exclusive(future(f)))
}
