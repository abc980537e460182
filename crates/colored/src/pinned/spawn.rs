//! [`spawn_pinned`]: a future that need not be `Send`, on a worker of your choice.

use super::NoWorker;
use colored_core::{Color, JoinHandle, SchedulerHandle};
use std::panic::Location;

/// Spawns a future that need not be `Send` on a worker of this runtime, counted from 0, under a color.
///
/// The worker receives `make` and calls it in the task's first turn; the future is polled and dropped
/// on that worker's thread. Otherwise the task behaves as a task of
/// [`spawn_colored`](crate::spawn_colored): it is scheduled at once, behind all work of its color, and
/// pinning does not change the order of the color. While its turn is due, the color waits for that
/// worker. An abort before the first turn drops `make` there, uncalled.
///
/// Use it for values that are made where they are used. Use a [`PinnedCell`](super::PinnedCell) for a
/// value that other tasks access, and [`spawn_local`](crate::spawn_local) for a task on the caller's
/// thread.
///
/// A shutdown aborts the task on its worker, and the worker does not end before. So a shutdown waits
/// for the thread that holds the color, up to its timeout. On a runtime that has shut down the task is
/// cancelled at once, and the future is never made.
///
/// Costs as much as a spawn, one more allocation, and a lock and a wake-up of that worker for each turn that is
/// dispatched from elsewhere.
///
/// ```
/// use colored::{Color, spawn_pinned};
/// use std::cell::RefCell;
/// use std::rc::Rc;
///
/// # #[colored::main(workers = 2)]
/// # async fn main() {
/// let sum = spawn_pinned(1, Color::unique(), || async {
///     let sum = Rc::new(RefCell::new(0)); // stays on the thread of worker 1
///     for n in 1..=3 {
///         colored::yield_now().await;
///         *sum.borrow_mut() += n;
///     }
///     sum.take()
/// });
/// assert_eq!(sum.unwrap().await.unwrap(), 6);
/// # }
/// ```
///
/// # Errors
///
/// If there is no such worker. `make` is dropped.
///
/// # Panics
///
/// Outside a runtime: [`Handle::spawn_pinned`](crate::Handle::spawn_pinned) names one. A panic of
/// `make` or of the future goes to the handle.
#[track_caller]
pub fn spawn_pinned<M, F>(
    worker: usize,
    color: impl Into<Color>,
    make: M,
) -> Result<JoinHandle<F::Output>, NoWorker>
where
    M: FnOnce() -> F + Send + 'static,
    F: Future + 'static,
    F::Output: Send + 'static,
{
    let (color, site) = (color.into(), Location::caller());
    let Some(handle) = SchedulerHandle::with_current(|handle| handle.cloned()) else {
        panic!(
            "`spawn_pinned({worker}, {color}, ..)` outside a runtime: call it inside one, or use \
             `Handle::spawn_pinned`"
        )
    };
    spawn_pinned_in(&handle, site, worker, color, make)
}

/// As [`spawn_pinned`], in the runtime of `handle`, for a caller at `site`.
pub(crate) fn spawn_pinned_in<M, F>(
    handle: &SchedulerHandle,
    site: &'static Location<'static>,
    worker: usize,
    color: Color,
    make: M,
) -> Result<JoinHandle<F::Output>, NoWorker>
where
    M: FnOnce() -> F + Send + 'static,
    F: Future + 'static,
    F::Output: Send + 'static,
{
    handle
        .spawn_pinned_from(site, worker, color, make)
        .map_err(|_| NoWorker { given: worker, workers: handle.scheduler().workers() })
}
