//! Functions on tasks: spawn, move, yield, join, abort.

mod blocking;
mod hop;
mod join;

pub use self::blocking::{Job, blocking};
pub use self::hop::{Hop, TryHop, hop, try_hop};
pub use self::join::{AbortHandle, JoinHandle};

use crate::color::Color;
use crate::lane::{self, LaneRef, current};
use crate::sched::{self, Handle, Nested};
use crate::task::{Id, JoinError, TaskRef};
use std::panic::Location;
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

    /// As [`Handle::spawn_colored`], for a caller at `site`.
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

    /// As [`Handle::spawn_colored`], for a caller at `site`; while the task is scheduled there, the
    /// color has the highest priority.
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

    /// As [`Handle::spawn_alone`], for a caller at `site`.
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

    /// Runs `f` once under a color, on the thread of a worker, behind all work that is already
    /// scheduled under the color. If the scheduler shuts down first, `f` is dropped under the
    /// color, on any thread.
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
        sched::spawn_pinned(self, site, worker, color, make).map(JoinHandle::new)
    }

    /// Runs a future under [`Color::DEFAULT`] on this thread, which meanwhile runs only tasks that
    /// are pinned to it.
    ///
    /// # Errors
    ///
    /// The outer error if this thread is running something already; the inner error if the future
    /// panicked, or the scheduler shut down.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> Result<Result<F::Output, JoinError>, Nested> {
        sched::block_on(self, future)
    }

    /// Calls `f` with the handle of the scheduler that this thread works for.
    pub fn with_current<R>(f: impl FnOnce(Option<&Handle>) -> R) -> R {
        sched::with_handle(f)
    }
}

/// Spawns a task under the color that this thread runs under.
///
/// # Errors
///
/// The future, if this thread runs under no color.
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

/// Spawns a task on a lane to which the caller has a reference.
#[track_caller]
pub(crate) fn spawn_on<F>(lane: &LaneRef, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    JoinHandle::new(sched::spawn_on_lane(lane, future))
}

impl Color {
    /// The color that the caller runs under, in a task, in a callback, or in a destructor of these.
    /// `None` on a thread that runs nothing for a runtime.
    ///
    /// Code that knows a color can spawn under it. So the first call in a task with a fresh color
    /// enters that color into the table, under a lock; every other call reads a thread-local.
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

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow(bool);

/// Lets all work that is scheduled under the current color run first, and also other colors when
/// the color's slice is over. Works under any runtime. Cancel safe.
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

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use crate::lane::{Lane, LanePtr};
    use crate::task::Cell;
    use std::future::Ready;

    /// The memory of an idle task and an idle color.
    #[test]
    fn a_small_task_takes_two_cache_lines_and_a_lane_less() {
        assert!(size_of::<Cell<Ready<()>, LanePtr>>() <= 128);
        assert!(size_of::<Lane>() <= 104);
    }
}
