//! [`JoinHandle`] and [`AbortHandle`]: waiting for a task, and aborting it.

use crate::kernel::lane::LanePtr;
use crate::kernel::task::{Abort, Cause, How, Id, Join, JoinError, TaskRef};
use crate::kernel::wait::{Target, WaitKind, WaitSlot};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

/// Waits for the output of a task. Dropping the handle detaches the task, which goes on.
///
/// Awaiting it is cancel safe, and costs no allocation. If the handle is dropped before the task is
/// done, the output is dropped under the task's color; otherwise an unread output is dropped with
/// the handle.
///
/// # Errors
///
/// [`JoinError`] if the task panicked, was aborted, or was not done when its runtime shut down.
/// Also if the wait would never end, because the task waits, directly or through other waits, for a
/// section ([`exclusive`](crate::exclusive())) that waits for it: then the task goes on, and the
/// handle may be awaited again.
pub struct JoinHandle<T> {
    /// Dropped before the reference to the task.
    wait: WaitSlot,
    join: Join<T, LanePtr>,
}

impl<T> JoinHandle<T> {
    #[inline]
    pub(crate) fn new(join: Join<T, LanePtr>) -> Self {
        Self { wait: WaitSlot::default(), join }
    }

    fn record_wait(&mut self) {
        const HOW: &How = &How { text: "awaits", is_shared: false };
        let task = self.join.task().as_ptr();
        let cause = || Cause {
            how: HOW,
            // A join has no place of its own: the place is where the task was spawned.
            site: self.join.task().named().spawned,
            kind: JOIN,
            what: task.cast(),
            beside: ptr::null(),
        };
        // SAFETY: the handle keeps the task, and drops the record before its reference.
        unsafe { self.wait.record_wait(cause) };
    }

    /// Cancels the task: its future is dropped, under its color, at its next turn. If the task is
    /// complete by then, nothing happens. Returns at once; await the handle to know when the future
    /// has been dropped. A blocking call is cancelled only if it has not begun.
    pub fn abort(&self) {
        self.join.abort();
    }

    /// Returns a handle that can abort the task but not wait for it.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(self.join.abort_handle())
    }

    /// Whether the future has been dropped, and the output or the error is available.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.join.is_finished()
    }

    /// The task's id.
    #[must_use]
    pub fn id(&self) -> Id {
        self.join.id()
    }

    /// Returns the output if the task is done, and `None` otherwise, without waiting.
    ///
    /// # Panics
    ///
    /// If the output has already been taken.
    pub fn try_take(&mut self) -> Option<Result<T, JoinError>> {
        if self.join.is_finished() { self.join.try_take() } else { None }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Only a poll after the first one has a record, and makes the call.
        let verdict = self.wait.record().and_then(|_| self.wait.begin_poll());
        let polled = Pin::new(&mut self.join).poll(cx);
        if polled.is_ready() {
            self.wait.end();
        } else if let Some(deadlock) = verdict {
            return Poll::Ready(Err(JoinError::deadlocked(self.id(), deadlock)));
        } else {
            self.record_wait();
        }
        polled
    }
}

/// The functions that find the target of a wait for a task.
const JOIN: &WaitKind = &WaitKind { target: joined, waker: joiner };

unsafe fn joined(cause: &Cause) -> Option<Target> {
    let task = NonNull::new(cause.what.cast_mut()).expect("there is a task");
    // SAFETY: `JoinHandle::record_wait` made the pointer; the handle keeps the task during this call.
    let task = unsafe { TaskRef::<LanePtr>::new(task.cast()) };
    Some(Target::Task(task.abort_handle()))
}

unsafe fn joiner(cause: &Cause) -> Option<Waker> {
    let task = NonNull::new(cause.what.cast_mut()).expect("there is a task");
    // SAFETY: `JoinHandle::record_wait` made the pointer; the handle cannot go during this call, and keeps the
    // task.
    let task = unsafe { TaskRef::<LanePtr>::new(task.cast()) };
    // SAFETY: a wait that gets the error is in a cycle that is blocked, so the task does not complete; and a
    // handle that is polled or dropped updates its record before it touches the waker.
    unsafe { task.joiner() }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// Aborts a task, from any thread.
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

// A task that panics is over, and its output is an error: no handle exposes a value that the panic left
// half-changed.
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}
impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}
