//! Futures that are made on a worker and stay there.
//!
//! A task of [`spawn_local`](super::spawn_local) is spawned by the thread that it is pinned to, and so
//! never outlives it by more than a turn. One of these may be spawned when the worker has gone already.
//! So its pin says that it may be cancelled elsewhere then: what has not been made is dropped there, as
//! any future is, and what has been made is leaked, for it may be dropped on its own thread only. It has
//! a box of its own for that: the task's memory goes.

use super::handle::spawn_on;
use super::remote::{CANCELLED_ANYWHERE, pin_of};
use super::{Handle, local};
use crate::color::Color;
use crate::lane::LanePtr;
use crate::task::Join;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

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
    let resident = Resident { make: Some(make), made: None };
    // SAFETY: nothing is borrowed, and `make` is `Send`. What it makes is made and polled by the worker
    // that the task is pinned to, which promises to stay on its thread, and dropped on that thread only.
    Ok(unsafe { spawn_on(lane, resident, pin, site) })
}

/// A future that is made where it is polled first, and dropped nowhere else.
struct Resident<M, F> {
    make: Option<M>,
    made: Option<(Pin<Box<F>>, ThreadId)>,
}

impl<M, F> Unpin for Resident<M, F> {}

impl<M: FnOnce() -> F, F: Future> Future for Resident<M, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        if let Some(make) = this.make.take() {
            local::with(|local| local.expect("the task is pinned to a worker").settle_down());
            this.made = Some((Box::pin(make()), thread::current().id()));
        }
        let (future, _) = this.made.as_mut().expect("a task whose first turn panics has no second");
        future.as_mut().poll(cx)
    }
}

impl<M, F> Drop for Resident<M, F> {
    fn drop(&mut self) {
        if let Some((future, home)) = self.made.take()
            && home != thread::current().id()
        {
            mem::forget(future);
        }
    }
}
