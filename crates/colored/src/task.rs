//! Tasks and colors: spawning, moving, yielding.
//!
//! | call | the task runs under |
//! |---|---|
//! | [`spawn`] | [`Color::DEFAULT`], like everything that names no color |
//! | [`spawn_colored`] | the color named |
//! | [`spawn_here`] | the color of the caller |
//! | [`spawn_unique`] | a fresh color of its own: in parallel with everything |
//! | [`spawn_local`] | the color of the caller, on this thread: the future need not be `Send` |
//! | [`spawn_pinned`](crate::spawn_pinned) | the color named, on a worker named: the future need not be `Send` |
//! | [`spawn_blocking`] | no color, on a thread that may block |
//! | [`future.colored(color)`](FutureExt::colored) | the color named, once the new future is polled |
//!
//! A task holds its color for one poll and releases it at every `.await`: other tasks of the color may
//! run in between. A task does not inherit a color: only [`spawn_here`] and [`spawn_local`] use the
//! caller's.
//!
//! # Several tasks
//!
//! | | |
//! |---|---|
//! | [`JoinSet`] | owns its tasks: returns their outputs, aborts them when it is dropped; a limit, a deadline |
//! | [`LocalSet`] | owns tasks of one thread that [`spawn_local`] spawns: waits for them, aborts them when it is dropped |
//! | [`TaskTracker`] | counts tasks, and waits until there are none; keeps no outputs, and aborts nothing |
//! | [`CancellationToken`] | asks any number of tasks to end, which do so where they look at it; it is tokio-util's, needs no runtime, and works under every color |
//!
//! A graceful stop is a token and a tracker. Each task ends where it is ready to:
//!
//! ```
//! use colored::task::{CancellationToken, TaskTracker};
//! use colored::time::{Duration, sleep};
//!
//! # #[colored::main(paused)]
//! # async fn main() {
//! let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
//! for _ in 0..4 {
//!     let stop = stop.clone();
//!     tasks.spawn_unique(async move {
//!         while stop.run_until_cancelled(sleep(Duration::from_secs(1))).await.is_some() {
//!             // one round of work, which is never cut off
//!         }
//!     });
//! }
//! sleep(Duration::from_secs(10)).await;
//! stop.cancel();
//! tasks.close();
//! tasks.wait().await;
//! # }
//! ```

mod builder;
mod colored;
pub mod coop;
mod join_set;
pub(crate) mod local;
pub(crate) mod local_set;
mod tracker;
mod unconstrained;

pub use self::builder::Builder;
pub use self::colored::{Colored, FutureExt};
pub use self::join_set::JoinSet;
pub use self::local::{LocalKey, NotInScope, Scope};
pub use self::local_set::{LocalEnterGuard, LocalSet};
pub use self::tracker::{TaskTracker, TrackedFuture, TrackerToken};
pub use self::unconstrained::{Unconstrained, unconstrained};
#[doc(inline)]
pub use crate::blocking::{BlockingClass, block_in_place, lazy, spawn_blocking};
#[doc(inline)]
pub use colored_core::budget::has_remaining as has_budget_remaining;
#[doc(inline)]
pub use colored_core::{
    AbortHandle, Exclusive, Hop, Id, JoinError, JoinHandle, TaskPanic, YieldNow, hop, yield_now,
};
pub use tokio_util::sync::{
    CancellationToken, DropGuard, DropGuardRef, WaitForCancellationFuture,
    WaitForCancellationFutureOwned,
};

/// The futures of this module, under the names that tokio gives them.
pub mod futures {
    #[doc(no_inline)]
    pub use super::Scope as TaskLocalFuture;
}

use crate::blocking::running;
use colored_core::{Color, SchedulerHandle};
use std::future::poll_fn;
use std::panic::Location;

#[track_caller]
fn with_handle<R>(what: &str, f: impl FnOnce(&SchedulerHandle) -> R) -> R {
    // The panic is outside the closure, and so at the caller's.
    match SchedulerHandle::with_current(|handle| handle.map(f)) {
        Some(result) => result,
        None => panic!(
            "`{what}` outside a runtime: call it inside `#[colored::main]`, `Runtime::run`, \
             `Runtime::block_on`, or while the guard of `Handle::enter` lives; a `Handle` spawns \
             from anywhere"
        ),
    }
}

/// Spawns a task under [`Color::DEFAULT`]: it never overlaps a task that names no color.
///
/// The task is scheduled behind all work of that color, and runs whether or not the handle is awaited.
/// Costs one allocation.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static, // no `Rc`, no `RefCell`: use a `ColorCell`, or `spawn_local`
    F::Output: Send + 'static,
{
    let site = Location::caller();
    with_handle("spawn", |handle| handle.spawn_colored_from(site, Color::DEFAULT, future))
}

/// Spawns a task under `color`: it overlaps no other task of that color, runs after the tasks that are
/// already scheduled there, and in parallel with tasks of all other colors.
///
/// Beside the allocation it costs a look-up in the table of colors: some 20 ns under a lock with little
/// contention.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn spawn_colored<F>(
    color: impl Into<Color>, // a key of another type: `Color::of(key)`
    future: F,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static, // no `Rc`, no `RefCell`: use a `ColorCell`, or `spawn_local`
    F::Output: Send + 'static,
{
    let site = Location::caller();
    with_handle("spawn_colored", |handle| handle.spawn_colored_from(site, color.into(), future))
}

/// Spawns a task under a fresh color that equals no other, in parallel with everything. The color needs
/// no entry in the table of colors unless code asks for the color.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn spawn_unique<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static, // no `Rc`, no `RefCell`: use a `ColorCell`, or `spawn_local`
    F::Output: Send + 'static,
{
    let site = Location::caller();
    with_handle("spawn_unique", |handle| handle.spawn_unique_from(site, future))
}

/// Spawns a task under the color of the caller.
///
/// # Panics
///
/// If the caller runs under no color.
#[track_caller]
pub fn spawn_here<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static, // no `Rc`, no `RefCell`: use a `ColorCell`, or `spawn_local`
    F::Output: Send + 'static,
{
    match colored_core::spawn_here(future) {
        Ok(handle) => handle,
        Err(_) => panic!("`spawn_here` where no color runs: call it inside a task"),
    }
}

/// Spawns a future that need not be `Send`. It stays on this thread, under the color of the caller or,
/// if there is none, the default one. Pinning decides on which thread a task runs; the color decides
/// which tasks it may overlap.
///
/// On a worker the task may run until the runtime ends; inside `block_on` it is aborted when the
/// `block_on` ends. Inside a [`LocalSet`] the task belongs to the set.
///
/// # Panics
///
/// On a thread that is neither a worker nor inside `block_on`.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    local_set::spawn(future)
}

/// Spawns it, whether or not the thread is inside of a set.
#[track_caller]
fn spawn_here_on_thread<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    match colored_core::spawn_local(future) {
        Ok(handle) => handle,
        Err(_) => panic!(
            "`spawn_local` on a thread that is no worker and not inside `block_on`: call it in a task, \
             or name a worker by `spawn_pinned`; `#[colored::main(local)]` runs the main future on the \
             main thread"
        ),
    }
}

/// The id of the current task, or of the call of [`spawn_blocking`] that this thread runs. In the destructor of an output that
/// nobody takes, it is the id of the task or the call whose output it is.
///
/// # Panics
///
/// Outside a task; [`try_id`] returns `None` there.
#[must_use]
#[track_caller]
pub fn id() -> Id {
    try_id().expect("`task::id` outside a task")
}

/// As [`id`]; `None` outside a task.
#[must_use]
pub fn try_id() -> Option<Id> {
    colored_core::current_task().or_else(running::id)
}

/// Takes one unit of the cooperative budget, and lets other tasks run first if none is left. Use it in
/// loops that always find work and otherwise would never return from their poll.
///
/// Every poll of a task begins with 128 units. Each socket operation, timer, call of a cell, join
/// handle, channel and lock that is ready takes one unit as well, and so does each [`hop`] to the task's own color.
/// Without a unit left, the function waits for the next poll of its task, and so behind all work that
/// is scheduled under the color by then. Cancel safe. Inside [`unconstrained()`] and outside a runtime
/// it never waits. Costs a look at a thread-local.
pub async fn consume_budget() {
    poll_fn(colored_core::budget::poll_proceed).await;
}
