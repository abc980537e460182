//! A count of the futures that cannot leave a worker: the worker stays until they are gone.
//!
//! A task that waits is in no queue. When all lanes have a request to cancel (`shutdown.rs`), a thread
//! that is no worker may hold the task's lane: in a call that runs there at once, in `block_on`, in a
//! behavior. Then all queues are empty and all workers are parked, but the task has yet to be dropped,
//! here and nowhere else. So a worker with such tasks does not count as having nothing left. Only its
//! thread changes the count, in its slices; the worker that decides whether all may stop reads it while
//! all are parked.

use super::local::{self, Local};
use pin_project_lite::pin_project;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

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
