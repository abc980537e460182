//! Futures that are made on a worker and stay there, and a count of all futures that cannot leave a worker.
//!
//! The thread that a task of [`spawn_local`](super::spawn_local) is pinned to spawns the task, so the task
//! never outlives it. A task of this module may be spawned when its worker has gone already. So its pin
//! allows another thread to cancel it then: a future that has not been made is dropped there, as any future
//! is. A future that has been made keeps its worker from stopping ([`LocalTask`]), and
//! is dropped on the worker. If the program drops the worker before it has stopped, the future leaks,
//! because no other thread may drop it. It has a box of its own, so that the task's memory is freed even
//! then.
//!
//! # The count
//!
//! A task that waits is in no queue. When all lanes have a request to cancel (`shutdown.rs`), a thread
//! that is no worker may hold the task's lane: in a call that runs there at once, in `block_on`, in a
//! behavior. Then all queues are empty and all workers are parked, but the task has yet to be dropped,
//! here and nowhere else. So a worker with such tasks does not count as having nothing left. Only its
//! thread changes the count, in its slices; the worker that decides whether all may stop reads it while
//! all are parked.

use super::SchedulerHandle;
use super::local::{self, Local};
use super::remote::{MAY_BE_DROPPED_ANYWHERE, pin_of};
use crate::hooks::Origin;
use crate::kernel::color::Color;
use crate::kernel::join::JoinHandle;
use crate::kernel::lane::current;
use crate::sync::{ThreadId, this_thread};
use pin_project_lite::pin_project;
use std::marker::PhantomData;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

impl SchedulerHandle {
    /// Spawns the future that `make` makes under a color on a worker, for a caller at `site`. The
    /// future stays there, so it need not be `Send`.
    ///
    /// # Errors
    ///
    /// `make`, if there is no such worker.
    pub fn spawn_pinned_from<M, F>(
        &self,
        site: &'static Location<'static>,
        worker: usize,
        color: Color,
        make: M,
    ) -> Result<JoinHandle<F::Output>, M>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        if worker >= self.scheduler().workers() {
            return Err(make);
        }
        let pin = pin_of(worker) | MAY_BE_DROPPED_ANYWHERE;
        Ok(self.spawn_made(site.into(), Some(color), pin, make))
    }

    /// Spawns the future that `make` makes under a color, a fresh one if there is none, for a caller at `origin`. Any
    /// worker takes the task's first turn, and makes the future; from then on the task is pinned to it. So the future
    /// need not be `Send`.
    pub fn spawn_settling_from<'a, M, F>(
        &self,
        origin: impl Into<Origin<'a>>,
        color: Option<Color>,
        make: M,
    ) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_made(origin.into(), color, 0, make)
    }

    fn spawn_made<M, F>(
        &self,
        origin: Origin<'_>,
        color: Option<Color>,
        pin: u32,
        make: M,
    ) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        let lane = color.map_or_else(|| self.unique_lane(), |color| self.lane(color).for_node());
        let pinned = PinnedFuture { make: Some(make), made: None };
        // SAFETY: nothing is borrowed, and `make` is `Send`. Its future is made by a worker that promises to stay on its
        // thread, to which the task is pinned then at the latest; it is polled there, and dropped on that thread only.
        unsafe { self.scheduler().spawn_on(lane, pinned, pin, false, origin) }
    }
}

/// A future that is made on the thread that polls it first, and dropped only there.
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
            let here = |local: Option<&Local>| {
                let local = local.expect("a worker polls the task");
                let pin = local.pin() | MAY_BE_DROPPED_ANYWHERE;
                current::with_polled(|task| task.expect("this is a poll of the task").pin_to(pin));
                LocalTask::begin(local)
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

/// A future on this thread, which is a worker, cannot leave it.
pub(super) struct LocalTask(PhantomData<*const ()>);

impl LocalTask {
    /// Called in a slice of the worker, as is the drop.
    pub(super) fn begin(local: &Local) -> Self {
        local.bind_to_thread();
        local.remote().local_tasks.add();
        Self(PhantomData)
    }
}

impl Drop for LocalTask {
    fn drop(&mut self) {
        local::with(|local| {
            local.expect("a local future ends on its worker").remote().local_tasks.remove()
        });
    }
}

pin_project! {
    /// A future that stays on the thread that spawned it. If that thread is a worker, the future keeps
    /// the worker from stopping.
    pub(super) struct BoundFuture<F> {
        #[pin]
        future: F,
        // Dropped after the future, whose drop may take its time.
        local_task: Option<LocalTask>,
    }
}

impl<F> BoundFuture<F> {
    pub(super) fn new(future: F, local_task: Option<LocalTask>) -> Self {
        Self { future, local_task }
    }
}

impl<F: Future> Future for BoundFuture<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}
