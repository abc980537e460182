//! Futures that are made on a worker and stay there.
//!
//! A task of [`spawn_local`](super::spawn_local) is spawned by the thread that it is pinned to, and so
//! never outlives it. One of these may be spawned when the worker has gone already. So its pin says that
//! it may be cancelled elsewhere then: what has not been made is dropped there, as any future is. What
//! has been made keeps its worker ([`local_tasks`](super::local_tasks)), and is dropped there. A worker that
//! is thrown away before it has stopped leaves it behind: then it is leaked, for no other thread may drop
//! it. It has a box of its own for that: the task's memory goes.

use super::handle::spawn_on;
use super::local_tasks::LocalTask;
use super::remote::{CANCELLED_ANYWHERE, pin_of};
use super::{Handle, local};
use crate::color::Color;
use crate::lane::LanePtr;
use crate::sync::{ThreadId, this_thread};
use crate::task::Join;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Spawns what `make` makes on a worker; gives `make` back if there is no such worker.
pub(crate) fn spawn_pinned<M, F>(
    handle: &Handle,
    site: &'static Location<'static>,
    worker: usize,
    color: Color,
    make: M,
) -> Result<Join<F::Output, LanePtr>, M>
where
    M: FnOnce() -> F + Send + 'static,
    F: Future + 'static,
    F::Output: Send + 'static,
{
    if worker >= handle.scheduler().workers() {
        return Err(make);
    }
    let pin = pin_of(worker) | CANCELLED_ANYWHERE;
    let lane = handle.lane(color).for_node();
    let pinned = PinnedFuture { make: Some(make), made: None };
    // SAFETY: nothing is borrowed, and `make` is `Send`. What it makes is made and polled by the worker
    // that the task is pinned to, which promises to stay on its thread, and dropped on that thread only.
    Ok(unsafe { spawn_on(lane, pinned, pin, site) })
}

/// A future that is made where it is polled first, and dropped nowhere else.
struct PinnedFuture<M, F> {
    make: Option<M>,
    made: Option<(Pin<Box<F>>, ThreadId, LocalTask)>,
}

impl<M, F> Unpin for PinnedFuture<M, F> {}

impl<M: FnOnce() -> F, F: Future> Future for PinnedFuture<M, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        if let Some(make) = this.make.take() {
            let here = |local: Option<&local::Local>| {
                LocalTask::begin(local.expect("the task is pinned to a worker"))
            };
            let local_task = local::with(here);
            this.made = Some((Box::pin(make()), this_thread(), local_task));
        }
        let (future, ..) =
            this.made.as_mut().expect("a task whose first turn panics has no second");
        future.as_mut().poll(cx)
    }
}

impl<M, F> Drop for PinnedFuture<M, F> {
    fn drop(&mut self) {
        if let Some(made) = self.made.take()
            && made.1 != this_thread()
        {
            mem::forget(made);
        }
    }
}
