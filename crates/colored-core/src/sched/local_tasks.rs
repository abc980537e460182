//! What cannot leave its worker, counted: the worker stays until it is gone.
//!
//! A task that waits is in no queue. When everything is told to cancel (`shutdown.rs`), a thread that is
//! no worker may hold its lane: in a call that runs there at once, in `block_on`, in a behavior. Then all
//! queues are empty and all workers parked, but the task has yet to be dropped, here and nowhere else.
//! So a worker that has such tasks does not count as having nothing left. Its thread alone changes the
//! count, in its slices; the worker that looks whether all may stop does so while all are parked.

use super::local::{self, Local};
use pin_project_lite::pin_project;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Something on this thread, which is a worker, cannot leave it.
pub(super) struct LocalTask(PhantomData<*const ()>);

impl LocalTask {
    /// In a slice of the worker, as is the drop.
    pub(super) fn begin(local: &Local) -> Self {
        local.settle_down();
        local.remote().local_tasks.add();
        Self(PhantomData)
    }
}

impl Drop for LocalTask {
    fn drop(&mut self) {
        local::with(|local| local.expect("a pinned ends at home").remote().local_tasks.remove());
    }
}

pin_project! {
    /// A future that stays on the thread that has spawned it, and keeps it if that is a worker.
    pub(super) struct Settled<F> {
        #[pin]
        future: F,
        // After the future, which may take its time.
        local_task: Option<LocalTask>,
    }
}

impl<F> Settled<F> {
    pub(super) fn new(future: F, local_task: Option<LocalTask>) -> Self {
        Self { future, local_task }
    }
}

impl<F: Future> Future for Settled<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}
