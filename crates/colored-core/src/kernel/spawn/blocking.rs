//! [`blocking`]: a closure for another thread, and a handle that waits for it as for a task.

use crate::hooks::TaskSpan;
use crate::kernel::join::JoinHandle;
use crate::kernel::lane::LanePtr;
use crate::kernel::task::{self, EndedTurn, TaskRef, TaskTurn};
use std::fmt;
use std::panic::Location;
use std::task::Poll;

/// A closure to be run by a thread that may block; see [`blocking`].
pub struct Job(Option<TaskRef<LanePtr>>);

// SAFETY: `blocking` makes it from a closure and an output that are `Send`.
unsafe impl Send for Job {}

/// Makes a closure into a job for another thread, and a handle that waits for its result. A job
/// that is dropped, or aborted before it runs, is cancelled.
#[track_caller]
pub fn blocking<T, F>(f: F) -> (Job, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let site = Location::caller();
    let mut f = Some(f);
    let future = std::future::poll_fn(move |_| {
        let f = f.take().expect("a job is polled once");
        Poll::Ready(f())
    });
    let Some(span) = TaskSpan::of_blocking_call(site.into()) else { return job(future, site) };
    let (job, handle) = job(span.around(future), site);
    span.set_id(handle.id());
    (job, handle)
}

/// The future completes with its first poll.
fn job<F>(future: F, site: &'static Location<'static>) -> (Job, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the future is `Send`, and borrows nothing. The task is never on a lane: it counts as
    // scheduled from its creation until it completes, and so no wake ever schedules it.
    let (task, join) = unsafe { task::Cell::allocate(future, LanePtr::nowhere(), 0, false, site) };
    (Job(Some(task)), JoinHandle::new(join))
}

impl Job {
    /// Runs the closure. A panic goes to the handle.
    pub fn run(mut self) {
        self.finish(false);
    }

    fn finish(&mut self, cancel: bool) {
        if let Some(task) = self.0.take() {
            finish(task, cancel);
        }
    }
}

/// The turn of a job, of which nothing is left.
fn finish(task: TaskRef<LanePtr>, cancel: bool) {
    // SAFETY: the task is on no lane, and the job takes its own half out: so this is the task's one turn.
    let mut turn = unsafe { TaskTurn::new(task) };
    let stored = turn.run(cancel).expect("a job does not wait");
    turn.complete(stored);
    // SAFETY: the task has had its turn here, and is in no chain.
    let released = unsafe { EndedTurn::new(task) }.release();
    debug_assert!(released.is_ok(), "it is complete");
}

impl Drop for Job {
    fn drop(&mut self) {
        self.finish(true);
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Job").field(&self.0.map(TaskRef::id)).finish()
    }
}
