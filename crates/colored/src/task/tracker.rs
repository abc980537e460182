//! [`TaskTracker`]: waiting until tasks have ended, without their outputs.

use super::JoinHandle;
use colored_core::Color;
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::watch;

/// Counts tasks that run, and waits until there are none. As the type of the same name in tokio-util, for tasks of this
/// runtime.
///
/// A clone counts the same tasks. Nothing is kept of a task that has ended, and dropping the tracker aborts nothing; a
/// [`JoinSet`](super::JoinSet) does both. A task counts from the call that spawns it until its future has been dropped. Costs a
/// lock with little contention at the begin and at the end of a task.
///
/// # Examples
///
/// ```
/// use colored::task::TaskTracker;
///
/// # #[colored::main]
/// # async fn main() {
/// let connections = TaskTracker::new();
/// for _ in 0..10 {
///     // The handle may be dropped.
///     connections.spawn_unique(async { /* serves a client */ });
/// }
/// connections.close(); // there will be no more
/// connections.wait().await;
/// assert!(connections.is_empty());
/// # }
/// ```
#[derive(Clone)]
pub struct TaskTracker(Arc<watch::Sender<State>>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    tasks: usize,
    closed: bool,
}

impl State {
    fn is_over(&self) -> bool {
        self.closed && self.tasks == 0
    }
}

impl TaskTracker {
    /// A tracker without tasks, which is not closed.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }

    /// Waits until the tracker is closed and has no task, at one moment. Cancel safe. Any number of tasks may wait.
    pub async fn wait(&self) {
        let mut changes = self.0.subscribe();
        let over = changes.wait_for(State::is_over).await;
        over.expect("this tracker keeps the sender");
    }

    /// Lets [`wait`](Self::wait) end when there is no task. More tasks may be spawned all the same. True if it was not
    /// closed before.
    pub fn close(&self) -> bool {
        self.set_closed(true)
    }

    /// Takes [`close`](Self::close) back. True if it was closed.
    pub fn reopen(&self) -> bool {
        self.set_closed(false)
    }

    /// Whether the tracker is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.borrow().closed
    }

    /// The number of tasks that have not ended. It may be outdated when the function returns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.borrow().tasks
    }

    /// Whether there is no such task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts as a task until it is dropped.
    #[must_use = "dropping it ends the task that it stands for"]
    pub fn token(&self) -> TrackerToken {
        self.change(|state| state.tasks += 1);
        TrackerToken(self.clone())
    }

    /// The same future, as cancel safe, which counts as a task from now until it is dropped: for every way to run a future that has no
    /// method here.
    pub fn track_future<F: Future>(&self, future: F) -> TrackedFuture<F> {
        TrackedFuture { future, token: self.token() }
    }

    /// Spawns a task under [`Color::DEFAULT`], as [`spawn`](super::spawn()).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        super::spawn(self.track_future(future))
    }

    /// Spawns a task under `color`, as [`spawn_colored`](super::spawn_colored).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn_colored<F>(&self, color: impl Into<Color>, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        super::spawn_colored(color, self.track_future(future))
    }

    /// Spawns a task under a color of its own, as [`spawn_unique`](super::spawn_unique).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn_unique<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        super::spawn_unique(self.track_future(future))
    }

    /// Runs `f` on a thread that may block, as [`spawn_blocking`](super::spawn_blocking()). It counts until it returns, or is
    /// cancelled before it begins.
    ///
    /// # Panics
    ///
    /// As there.
    #[track_caller]
    pub fn spawn_blocking<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let token = self.token();
        super::spawn_blocking(move || {
            let _token = token;
            f()
        })
    }

    fn set_closed(&self, closed: bool) -> bool {
        let mut changes = false;
        self.change(|state| {
            changes = state.closed != closed;
            state.closed = closed;
        });
        changes
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        self.0.send_if_modified(|state| {
            change(state);
            // Nobody waits for anything else.
            state.is_over()
        });
    }
}

impl Default for TaskTracker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TaskTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { tasks, closed } = *self.0.borrow();
        f.debug_struct("TaskTracker").field("len", &tasks).field("is_closed", &closed).finish()
    }
}

/// Counts as a task of a [`TaskTracker`] until it is dropped. A clone counts as another one.
#[derive(Debug)]
pub struct TrackerToken(TaskTracker);

impl TrackerToken {
    /// The tracker.
    #[must_use]
    pub fn task_tracker(&self) -> &TaskTracker {
        &self.0
    }
}

impl Clone for TrackerToken {
    fn clone(&self) -> Self {
        self.0.token()
    }
}

impl Drop for TrackerToken {
    fn drop(&mut self) {
        self.0.change(|state| state.tasks -= 1);
    }
}

pin_project! {
    /// A future that counts as a task; made by [`TaskTracker::track_future`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct TrackedFuture<F> {
        #[pin]
        future: F,
        // Dropped after the future: who waits finds the future gone.
        token: TrackerToken,
    }
}

impl<F: Future> Future for TrackedFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}
