//! [`JoinSet`]: tasks that end together.

mod spawn;
mod stop;

use self::stop::Stop;
use super::{AbortHandle, CancellationToken, Id, JoinError, JoinHandle};
use crate::time::Instant;
use colored_core::budget;
use futures_core::Stream;
use slab::Slab;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Tasks whose outputs come in the order in which the tasks end, and which are aborted when the set is dropped.
///
/// Each task has the color that its method says, as those of the functions of this module. Outputs that nobody has asked
/// for stay in the set. A task costs 16 bytes more in a set, and a message at its end. A set is also a
/// [`Stream`] of its outputs.
///
/// [`limit`](Self::limit), [`deadline`](Self::deadline) and [`cancel_on`](Self::cancel_on) are settings for all tasks.
/// For tasks without outputs, which nobody owns, there is [`TaskTracker`](super::TaskTracker).
///
/// The type and its methods are named as tokio's. One means something else: [`spawn`](Self::spawn) is serial, as everything
/// is that names no color. Parallel tasks come from [`spawn_unique`](Self::spawn_unique) and
/// [`spawn_colored`](Self::spawn_colored).
///
/// # Examples
///
/// ```
/// use colored::Color;
/// use colored::task::JoinSet;
///
/// # #[colored::main(workers = 2)]
/// # async fn main() {
/// let mut set = JoinSet::new();
/// for shard in 0..8_u64 {
///     set.spawn_colored(Color::of(shard), async move { shard * shard });
/// }
/// let mut sum = 0;
/// while let Some(square) = set.join_next().await {
///     sum += square.unwrap();
/// }
/// assert_eq!(sum, 140);
/// # }
/// ```
pub struct JoinSet<T> {
    tasks: Slab<JoinHandle<T>>,
    ends: UnboundedSender<usize>,
    ended: UnboundedReceiver<usize>,
    /// The task that ended first of those whose outputs are in the set.
    next: Option<usize>,
    limit: Option<Arc<Semaphore>>,
    stop: Stop,
}

/// Tells the set that a task has ended: it is dropped with the task's future.
struct End {
    task: usize,
    to: UnboundedSender<usize>,
}

impl Drop for End {
    fn drop(&mut self) {
        // The set may be gone.
        let _ = self.to.send(self.task);
    }
}

impl<T: 'static> JoinSet<T> {
    /// A set without tasks.
    #[must_use]
    pub fn new() -> Self {
        let (ends, ended) = unbounded_channel();
        Self { tasks: Slab::new(), ends, ended, next: None, limit: None, stop: Stop::default() }
    }

    /// From now on at most `tasks` of the tasks that are spawned run at a time: the others begin when there is room, in the
    /// order in which their colors came to them. A task that waits holds neither its color nor a worker.
    ///
    /// Blocking calls do not count; [`BlockingClass`](super::BlockingClass) limits those. The set accepts any number of
    /// tasks. To limit their number as well, wait for an output before each spawn:
    ///
    /// ```
    /// # use colored::task::JoinSet;
    /// # #[colored::main]
    /// # async fn main() {
    /// let (mut set, mut done) = (JoinSet::new(), 0);
    /// for _ in 0..100 {
    ///     if set.len() == 8 {
    ///         done += usize::from(set.join_next().await.unwrap().is_ok());
    ///     }
    ///     set.spawn_unique(async {});
    /// }
    /// done += set.join_all().await.len();
    /// assert_eq!(done, 100);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `tasks` is 0, or more than [`Semaphore::MAX_PERMITS`].
    #[must_use]
    #[track_caller]
    pub fn limit(mut self, tasks: usize) -> Self {
        let max = Semaphore::MAX_PERMITS;
        assert!((1..=max).contains(&tasks), "limit({tasks}): allowed are 1 to {max} tasks");
        self.limit = Some(Arc::new(Semaphore::new(tasks)));
        self
    }

    /// At that time all tasks are aborted, and all that are spawned afterwards at once. A second call replaces the first.
    ///
    /// It is the owner's wait that does so: [`join_next`](Self::join_next) and what is built on it. A deadline that
    /// passes while the owner does something else has its effect with the next wait or spawn. The outputs of tasks that have ended
    /// before stay in the set.
    ///
    /// ```
    /// use colored::task::JoinSet;
    /// use colored::time::{Duration, Instant, sleep};
    ///
    /// # #[colored::main(paused)]
    /// # async fn main() {
    /// let mut set = JoinSet::new().deadline(Instant::now() + Duration::from_secs(10));
    /// for seconds in [1, 5, 60] {
    ///     set.spawn_unique(async move {
    ///         sleep(Duration::from_secs(seconds)).await;
    ///         seconds
    ///     });
    /// }
    /// let mut in_time = Vec::new();
    /// while let Some(output) = set.join_next().await {
    ///     in_time.extend(output.ok());
    /// }
    /// assert_eq!(in_time, [1, 5]);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Not here, but in the owner's wait, if that is outside of a runtime.
    #[must_use]
    pub fn deadline(mut self, at: impl Into<Instant>) -> Self {
        self.stop.set_deadline(at.into());
        self
    }

    /// When the token is cancelled, all tasks are aborted, and all that are spawned afterwards at once: as with a
    /// [`deadline`](Self::deadline). A second call replaces the first.
    ///
    /// An abort drops a task at its next await. A task that has something to finish looks at the token itself instead.
    #[must_use]
    pub fn cancel_on(mut self, token: &CancellationToken) -> Self {
        self.stop.set_token(token.clone());
        self
    }

    /// Waits for the first task that ends, and returns its output; `None` if the set is empty. Cancel safe.
    ///
    /// # Errors
    ///
    /// Inside the option: the task has panicked, or was aborted.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// Returns the output of a task that has ended, as [`join_next`](Self::join_next), if there is one now. Takes nothing
    /// of the poll's budget, since it never waits.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        let output = self.try_join_next_with_id()?;
        Some(output.map(|(_, output)| output))
    }

    /// As [`join_next`](Self::join_next), with the id of the task. Cancel safe.
    ///
    /// # Errors
    ///
    /// Inside the option, as there: [`JoinError::id`] says which task it was.
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// As [`try_join_next`](Self::try_join_next), with the id of the task.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let poll = || self.poll_join_next_with_id(&mut Context::from_waker(Waker::noop()));
        match budget::unlimited(poll) {
            Poll::Ready(output) => output,
            Poll::Pending => None,
        }
    }

    /// As [`join_next`](Self::join_next).
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        let polled = self.poll_join_next_with_id(cx);
        polled.map(|ended| ended.map(|output| output.map(|(_, output)| output)))
    }

    /// As [`join_next_with_id`](Self::join_next_with_id).
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.tasks.is_empty() {
            return Poll::Ready(None);
        }
        if self.stop.poll(cx) {
            self.abort_all();
        }
        let task = match self.next {
            Some(task) => task,
            None => {
                let task = ready!(self.ended.poll_recv(cx)).expect("the set has a sender");
                *self.next.insert(task)
            }
        };
        // The future of the task is gone, and its output will be there at once, if it is not yet.
        let output = ready!(Pin::new(&mut self.tasks[task]).poll(cx));
        self.next = None;
        let id = self.tasks.remove(task).id();
        Poll::Ready(Some(output.map(|output| (id, output))))
    }

    /// Waits for all tasks, and returns their outputs in the order in which the tasks ended. Not cancel safe: if the
    /// future is dropped, the outputs are lost, and the other tasks are aborted.
    ///
    /// # Panics
    ///
    /// With the panic of the first task that panics, and if a task was aborted, also by the set's deadline or token. The
    /// other tasks are aborted then.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(output) = self.join_next().await {
            match output.map_err(JoinError::try_into_panic) {
                Ok(output) => outputs.push(output),
                Err(Ok(payload)) => resume_unwind(payload),
                Err(Err(error)) => panic!("a task of the set has no output: {error}"),
            }
        }
        outputs
    }

    /// Aborts all tasks, and waits until they have ended: until their futures are dropped, under their colors, and blocking
    /// calls that have begun return. Outputs are dropped. Cancel safe.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    fn end(&self) -> End {
        End { task: self.tasks.vacant_key(), to: self.ends.clone() }
    }

    /// The same future, whose end the set hears of.
    pub(crate) fn ending<F>(&self, future: F) -> impl Future<Output = T> + use<F, T>
    where
        F: Future<Output = T> + 'static,
    {
        let (end, limit) = (self.end(), self.limit.clone());
        async move {
            let _end = end;
            let _permit = match &limit {
                Some(limit) => Some(limit.acquire().await.expect("the semaphore is never closed")),
                None => None,
            };
            future.await
        }
    }

    /// The same call, whose end the set hears of.
    pub(crate) fn ending_call<F: FnOnce() -> T>(&self, f: F) -> impl FnOnce() -> T + use<F, T> {
        let end = self.end();
        move || {
            let _end = end;
            f()
        }
    }

    /// Takes in the task whose future or call is the one that was made last.
    pub(crate) fn insert(&mut self, task: JoinHandle<T>) -> AbortHandle {
        let abort = task.abort_handle();
        if self.stop.is_over() {
            abort.abort();
        }
        self.tasks.insert(task);
        abort
    }
}

impl<T: 'static> Stream for JoinSet<T> {
    type Item = Result<T, JoinError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_join_next(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), None)
    }
}

// Neither tasks nor outputs are pinned in it.
impl<T> Unpin for JoinSet<T> {}

impl<T> JoinSet<T> {
    /// The number of tasks whose outputs have not been returned.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no such task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Aborts all tasks. They stay in the set until [`join_next`](Self::join_next) has returned them.
    pub fn abort_all(&self) {
        self.tasks.iter().for_each(|(_, task)| task.abort());
    }

    /// Lets all tasks go on outside the set.
    pub fn detach_all(&mut self) {
        drop(mem::take(&mut self.tasks));
        self.next = None;
        // Keys are used again: nothing that these tasks send must be taken for a new one's.
        let (ends, ended) = unbounded_channel();
        (self.ends, self.ended) = (ends, ended);
    }
}

impl<T: 'static> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish_non_exhaustive()
    }
}
