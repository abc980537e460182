//! [`spawn_pinned`]: a future that need not be `Send`, on a worker of one's choice.

use super::NoWorker;
use colored_core::{Color, Handle, JoinHandle};
use std::panic::Location;

/// Spawns a future that need not be `Send` on a worker of this runtime, counted from 0, under a color.
///
/// `make` is sent there and called by the task's first turn; what it makes is polled and dropped on
/// that worker's thread. Otherwise the task is as one of [`spawn_colored`](crate::spawn_colored): it is
/// scheduled at once, behind what is scheduled under the color, whose order the pinning does not change.
/// While its turn is due, the color waits for that worker. An abort before the first turn drops `make`
/// there, uncalled.
///
/// For what is made where it is used; a value that others are to reach is a
/// [`PinnedCell`](super::PinnedCell), and [`spawn_local`](crate::spawn_local) stays on the caller's
/// thread.
///
/// It is aborted at shutdown, there: the worker does not end before. So a shutdown waits for whoever holds
/// the color, up to its timeout. On a runtime that has shut down it is cancelled at once, unmade.
///
/// Costs what a spawn costs, one more allocation, and a lock and a wake-up of that worker for each turn that is dispatched
/// from elsewhere.
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
    let Some(handle) = Handle::with_current(|handle| handle.cloned()) else {
        panic!(
            "`spawn_pinned({worker}, {color}, ..)` outside a runtime: call it inside one, or use \
             `Handle::spawn_pinned`"
        )
    };
    spawn_pinned_in(&handle, site, worker, color, make)
}

/// As [`spawn_pinned`], in the runtime of `handle`, on behalf of who is at `site`.
pub(crate) fn spawn_pinned_in<M, F>(
    handle: &Handle,
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
