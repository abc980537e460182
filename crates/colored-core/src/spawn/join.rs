//! [`JoinHandle`] and [`AbortHandle`]: a task from outside.

use crate::lane::LanePtr;
use crate::sched::waits::{self, Wait};
use crate::task::{Abort, Deadlock, Id, Join, JoinError};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll};

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
    pub(super) fn new(join: Join<T, LanePtr>) -> Self {
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
