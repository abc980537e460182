//! What users do with tasks: spawn, join, abort, move, yield.

mod hop;

pub use self::hop::{Hop, TryHop, hop, try_hop};

use crate::color::Color;
use crate::lane::{self, LanePtr, LaneRef, current};
use crate::sched::waits::{self, Wait};
use crate::sched::{self, Handle, Nested};
use crate::task::{self, Abort, Begun, Deadlock, Id, Join, JoinError, TaskRef};
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll};

impl Handle {
    /// Spawns a task under a color.
    #[track_caller]
    pub fn spawn_colored<F>(&self, color: Color, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle::new(self.spawn(color, future))
    }

    /// As [`Handle::spawn_colored`], on behalf of who is at `site`.
    pub fn spawn_colored_from<F>(
        &self,
        site: &'static Location<'static>,
        color: Color,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle::new(self.spawn_from(site, color, future))
    }

    /// As [`Handle::spawn_colored`]; while the task is scheduled there, the color is of the highest
    /// priority. On behalf of who is at `site`.
    pub fn spawn_high_from<F>(
        &self,
        site: &'static Location<'static>,
        color: Color,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle::new(self.spawn_urgent(site, color, future))
    }

    /// Spawns a task under a color of its own that equals no other.
    #[track_caller]
    pub fn spawn_alone<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle::new(self.spawn_unique(future))
    }

    /// As [`Handle::spawn_alone`], on behalf of who is at `site`.
    pub fn spawn_alone_from<F>(
        &self,
        site: &'static Location<'static>,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle::new(self.spawn_unique_from(site, future))
    }

    /// Runs `f` once under a color, on the thread of a worker, behind what is scheduled under the
    /// color already. If the scheduler shuts down first, `f` is dropped under the color, on any
    /// thread.
    ///
    /// # Errors
    ///
    /// `f`, if there is no such worker.
    pub fn post_to_worker<F>(&self, worker: usize, color: Color, f: F) -> Result<(), F>
    where
        F: FnOnce() + Send + 'static,
    {
        sched::post_to_worker(self, worker, color, f)
    }

    /// Spawns what `make` makes under a color on a worker, where it stays: it need not be `Send`. On
    /// behalf of who is at `site`.
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
        sched::spawn_pinned(self, site, worker, color, make).map(JoinHandle::new)
    }

    /// Runs a future under [`Color::DEFAULT`] on this thread, which runs nothing else meanwhile.
    ///
    /// # Errors
    ///
    /// The outer one if this thread runs something already; the inner one if the future panicked,
    /// or the scheduler shut down.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> Result<Result<F::Output, JoinError>, Nested> {
        sched::block_on(self, future)
    }

    /// Calls `f` with the handle of the scheduler that this thread works for.
    pub fn with_current<R>(f: impl FnOnce(Option<&Handle>) -> R) -> R {
        sched::with_handle(f)
    }
}

/// Spawns a task under the color that this thread runs under; gives the future back outside.
///
/// # Errors
///
/// The future, if this thread runs nothing.
#[track_caller]
pub fn spawn_here<F>(future: F) -> Result<JoinHandle<F::Output>, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    sched::spawn_here(future).map(JoinHandle::new)
}

/// Spawns a task that stays on this thread, under the color that runs here or the default one.
///
/// # Errors
///
/// The future, if this thread is neither a worker nor inside `block_on`.
#[track_caller]
pub fn spawn_local<F: Future + 'static>(future: F) -> Result<JoinHandle<F::Output>, F> {
    sched::spawn_local(future).map(JoinHandle::new)
}

/// Spawns a task on a lane that the caller has.
#[track_caller]
pub(crate) fn spawn_on<F>(lane: &LaneRef, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    JoinHandle::new(sched::spawn_on_lane(lane, future))
}

impl Color {
    /// The color that the caller runs under: in a task, a callback or a destructor of theirs. `None`
    /// on a thread that runs nothing for a runtime.
    ///
    /// Whoever knows a color can spawn under it. So the first call in a task that was spawned under
    /// a fresh color enters that color into the table, under a lock; every other call reads a
    /// thread-local.
    #[must_use]
    pub fn current() -> Option<Color> {
        lane::current_color()
    }
}

/// The id of the task that is being polled by this thread.
#[must_use]
pub fn current_task() -> Option<Id> {
    current::task().map(TaskRef::id)
}

/// Waits for the output of a task. Dropping it detaches the task, which goes on.
///
/// Awaiting it is cancel safe, and costs no allocation. The output of a task whose handle is
/// dropped is dropped under the task's color; one that is done but has not been read is dropped
/// with the handle.
///
/// # Errors
///
/// [`JoinError`] if the task panicked, was aborted, or was still there when its runtime shut down.
/// And if to wait for it here would never end, because somebody waits for it, in the end, in a
/// section ([`exclusive`](crate::exclusive())): then the task goes on, and the handle may be awaited
/// again.
pub struct JoinHandle<T> {
    /// Dropped before the task is let go.
    wait: Option<Wait>,
    join: Join<T, LanePtr>,
}

impl<T> JoinHandle<T> {
    #[inline]
    fn new(join: Join<T, LanePtr>) -> Self {
        Self { wait: None, join }
    }

    #[cold]
    fn record(&mut self) -> Result<(), Deadlock> {
        let before = self.wait.take();
        // SAFETY: the handle keeps the task, and drops the record before it lets it go.
        self.wait = unsafe { waits::task(before, self.join.task()) }?;
        Ok(())
    }

    /// Asks that the task be cancelled: its future is dropped, under its color, when its turn comes
    /// the next time. If it is complete by then, nothing happens. Returns at once; await the handle
    /// to know when the future is gone. A blocking call is cancelled only if it has not begun.
    pub fn abort(&self) {
        self.join.abort();
    }

    /// A handle that can abort the task but not wait for it.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(self.join.abort_handle())
    }

    /// Whether the future is gone and the output, or the error, is there.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.join.is_finished()
    }

    /// The task's id.
    #[must_use]
    pub fn id(&self) -> Id {
        self.join.id()
    }

    /// The output if the task is done, without waiting; `None` if it is not.
    ///
    /// # Panics
    ///
    /// If the output was taken before.
    pub fn try_take(&mut self) -> Option<Result<T, JoinError>> {
        self.join.try_take()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.join).poll(cx);
        if polled.is_ready() {
            self.wait = None;
        } else if waits::are_watched()
            && let Err(deadlock) = self.record()
        {
            return Poll::Ready(Err(JoinError::deadlocked(self.id(), deadlock)));
        }
        polled
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// Aborts a task from afar.
#[derive(Clone)]
pub struct AbortHandle(Abort<LanePtr>);

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.0.abort();
    }

    /// As [`JoinHandle::is_finished`].
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// The task's id.
    #[must_use]
    pub fn id(&self) -> Id {
        self.0.id()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}

// A task that panics is over, and its output is an error: no handle shows what it was doing.
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}
impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

/// Lets others run; see [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow(bool);

/// Lets everything that is scheduled under the current color run first, and other colors when the
/// color's slice is over. Works under any runtime. Cancel safe.
pub fn yield_now() -> YieldNow {
    YieldNow(false)
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        if !current::yield_task(cx.waker()) {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

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
    // SAFETY: `Send`, and borrows nothing. It never is on a lane: it is scheduled from the
    // first until it completes, and so no wake ever schedules it.
    let task = unsafe { task::Cell::allocate(future, LanePtr::nowhere(), 0, site) };
    // SAFETY: the second reference is the handle's.
    let join = unsafe { Join::new(task) };
    // SAFETY: the job keeps the runtime's reference until the task is complete.
    (Job(Some(unsafe { TaskRef::new(task) })), JoinHandle::new(join))
}

impl Job {
    /// Runs the closure. A panic goes to the handle.
    pub fn run(mut self) {
        self.finish(false);
    }

    fn finish(&mut self, cancel: bool) {
        let Some(task) = self.0.take() else { return };
        // SAFETY: a job is the only one that may run its task, once, here.
        let begun = unsafe { task.begin() };
        if cancel || begun == Begun::Cancel {
            // SAFETY: as above.
            unsafe { task.cancel() };
        } else {
            // SAFETY: as above.
            let done = unsafe { task.poll() };
            debug_assert!(done, "a job does not wait");
        }
        // SAFETY: the output has been stored.
        unsafe { task.complete() };
        // SAFETY: complete, and in no chain.
        unsafe { task.release() };
    }
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

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use crate::lane::{Lane, LanePtr};
    use crate::task::Cell;
    use std::future::Ready;

    /// What an idle task and an idle color cost.
    #[test]
    fn a_small_task_takes_two_cache_lines_and_a_lane_less() {
        assert!(size_of::<Cell<Ready<()>, LanePtr>>() <= 128);
        assert!(size_of::<Lane>() <= 104);
    }
}
