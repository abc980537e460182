//! What users do with tasks: spawn, join, abort, move, yield.

use crate::color::Color;
use crate::exclusive;
use crate::lane::{self, LanePtr, LaneRef, current};
use crate::sched::{self, Handle, Nested};
use crate::task::{self, Abort, Begun, Id, Join, JoinError, TaskRef};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

impl Handle {
    /// Spawns a task under a color.
    pub fn spawn_colored<F>(&self, color: Color, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle(self.spawn(color, future))
    }

    /// As [`Handle::spawn_colored`]; while the task is scheduled there, the color is of the highest
    /// priority.
    pub fn spawn_high<F>(&self, color: Color, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle(self.spawn_urgent(color, future))
    }

    /// Spawns a task under a color of its own that equals no other.
    pub fn spawn_alone<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle(self.spawn_unique(future))
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

    /// Runs a future under [`Color::DEFAULT`] on this thread, which runs nothing else meanwhile.
    ///
    /// # Errors
    ///
    /// The outer one if this thread runs something already; the inner one if the future panicked,
    /// or the scheduler shut down.
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
pub fn spawn_here<F>(future: F) -> Result<JoinHandle<F::Output>, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    sched::spawn_here(future).map(JoinHandle)
}

/// Spawns a task that stays on this thread, under the color that runs here or the default one.
///
/// # Errors
///
/// The future, if this thread is neither a worker nor inside `block_on`.
pub fn spawn_local<F: Future + 'static>(future: F) -> Result<JoinHandle<F::Output>, F> {
    sched::spawn_local(future).map(JoinHandle)
}

/// Spawns a task on a lane that the caller has.
pub(crate) fn spawn_on<F>(lane: &LaneRef, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    JoinHandle(sched::spawn_on_lane(lane, future))
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
pub struct JoinHandle<T>(Join<T, LanePtr>);

impl<T> JoinHandle<T> {
    /// Asks that the task be cancelled: its future is dropped, under its color, when its turn comes
    /// the next time. If it is complete by then, nothing happens. Returns at once; await the handle
    /// to know when the future is gone. A blocking call is cancelled only if it has not begun.
    pub fn abort(&self) {
        self.0.abort();
    }

    /// A handle that can abort the task but not wait for it.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(self.0.abort_handle())
    }

    /// Whether the future is gone and the output, or the error, is there.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// The task's id.
    #[must_use]
    pub fn id(&self) -> Id {
        self.0.id()
    }

    /// The output if the task is done, without waiting; `None` if it is not.
    ///
    /// # Panics
    ///
    /// If the output was taken before.
    pub fn try_take(&mut self) -> Option<Result<T, JoinError>> {
        self.0.try_take()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx)
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

/// Moves the current task under another color; see [`hop`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Hop {
    color: Color,
    site: &'static Location<'static>,
}

/// Moves the current task under `color`: the code after the await runs under it, after everything
/// that was scheduled there before.
///
/// The whole task moves. Inside `join!` or `select!` the other branches are polled under the new
/// color as well from then on. Ready at once if the task is there already. Costs one scheduling,
/// and a look-up in the table of colors unless `color` is the default one.
///
/// Not cancel safe: a hop that is dropped after its first poll, as the losing branch of a `select!`
/// is, still moves the task when that poll of the task ends. Of two hops in one poll the later one
/// counts.
///
/// # Panics
///
/// If it is polled outside a task of a runtime, or in a task that holds its color in a section
/// ([`exclusive`](crate::exclusive)).
#[track_caller]
pub fn hop(color: Color) -> Hop {
    Hop { color, site: Location::caller() }
}

impl Future for Hop {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { color, site } = *self;
        let lane = Handle::with_current(|handle| handle.map(|handle| handle.lane(color)));
        let (Some(lane), Some(task)) = (lane, current::task()) else {
            panic!("`hop({color})` outside a task: only a task of a runtime can move to a color")
        };
        if lane.is_current() {
            return Poll::Ready(());
        }
        if task.has_sections() {
            in_a_section(color, site);
        }
        if !task.owns(cx.waker()) {
            // A combinator polls what it was woken for; the move wakes the task alone.
            cx.waker().wake_by_ref();
        }
        let moved = current::hop_to(lane);
        debug_assert!(moved.is_ok(), "this is a task");
        Poll::Pending
    }
}

#[cold]
fn in_a_section(color: Color, site: &'static Location<'static>) -> ! {
    match exclusive::inside() {
        Some(section) => panic!(
            "`hop({color})` at {site} inside the section of {section}: a section holds the color \
             where it began until it ends"
        ),
        None => panic!(
            "`hop({color})` at {site} beside a section of the same task, which holds the color where \
             it began until it ends"
        ),
    }
}

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
pub fn blocking<T, F>(f: F) -> (Job, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let mut f = Some(f);
    let future = std::future::poll_fn(move |_| {
        let f = f.take().expect("a job is polled once");
        Poll::Ready(f())
    });
    // SAFETY: `Send`, and borrows nothing. It never is on a lane: it is notified until it begins,
    // running until it completes, and so no wake ever schedules it.
    let task = unsafe { task::Cell::allocate(future, LanePtr::nowhere(), 0) };
    // SAFETY: the second reference is the handle's.
    let join = unsafe { Join::new(task) };
    // SAFETY: the job keeps the runtime's reference until the task is complete.
    (Job(Some(unsafe { TaskRef::new(task) })), JoinHandle(join))
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
