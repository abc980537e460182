//! The handles: [`SchedulerHandle`] is a scheduler, as code that spawns on it sees it; a spawn returns a [`JoinHandle`], which
//! waits for the task, and an [`AbortHandle`] aborts it.

use super::Scheduler;
use super::remote::pin_of;
use super::scheduler::Routing;
use crate::hooks::queues::Classes;
use crate::hooks::{self, Origin, TaskSpan};
use crate::kernel::color::Color;
use crate::kernel::lane::{Dispatch, Lane, LanePtr, LaneRef, Tenure, push};
use crate::kernel::task::{self, Abort, Cause, How, Id, Join, JoinError, TaskRef};
use crate::kernel::wait::{Target, WaitKind, WaitSlot};
use crate::sync::{Arc, arc_dyn};
use std::any::Any;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

/// Spawns tasks on a scheduler. Cheap to clone.
#[derive(Clone)]
pub struct SchedulerHandle {
    inner: Arc<Inner>,
}

struct Inner {
    scheduler: Arc<Scheduler>,
    /// A reference that keeps the default lane in the table.
    default: LaneRef,
}

impl SchedulerHandle {
    pub(super) fn new(scheduler: Arc<Scheduler>) -> Self {
        let default = lane_of(&scheduler, Color::DEFAULT);
        Self { inner: Arc::new(Inner { scheduler, default }) }
    }

    /// The scheduler of lanes with this port; `None` for a port that is no scheduler.
    #[cold]
    pub(super) fn of(port: &Arc<dyn Dispatch>) -> Option<Self> {
        let any: &dyn Any = &**port;
        if !any.is::<Scheduler>() {
            return None;
        }
        let scheduler = Arc::into_raw(Arc::clone(port)).cast::<Scheduler>();
        // SAFETY: the pointer is from `into_raw`, of an allocation that was made for a value of
        // this type.
        Some(Self::new(unsafe { Arc::from_raw(scheduler) }))
    }

    /// The scheduler.
    #[must_use]
    pub fn scheduler(&self) -> &Scheduler {
        &self.inner.scheduler
    }

    /// Whether both handles are of one scheduler.
    #[must_use]
    pub fn same(&self, other: &SchedulerHandle) -> bool {
        Arc::ptr_eq(&self.inner.scheduler, &other.inner.scheduler)
    }

    pub(crate) fn lane(&self, color: Color) -> LaneRef {
        if color.is_default() {
            return self.inner.default.clone();
        }
        lane_of(&self.inner.scheduler, color)
    }

    /// The lane of a color, for a task that the caller pushes on it next.
    fn lane_for_task(&self, color: Color) -> LaneRef {
        if color.is_default() {
            return self.inner.default.for_node();
        }
        lane_of(&self.inner.scheduler, color)
    }

    /// A fresh lane that only its task refers to.
    pub(super) fn unique_lane(&self) -> LaneRef {
        let lane = make_lane(&self.inner.scheduler, Color::unique(), Tenure::Unpublished);
        // SAFETY: a fresh lane has one reference.
        unsafe { LaneRef::from_counted(LanePtr::from_box(lane)) }
    }

    /// Spawns a task under a color.
    #[track_caller]
    pub fn spawn_colored<F>(&self, color: Color, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_colored_from(Location::caller(), color, future)
    }

    /// As [`SchedulerHandle::spawn_colored`], for a caller at `origin`.
    pub fn spawn_colored_from<'a, F>(
        &self,
        origin: impl Into<Origin<'a>>,
        color: Color,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.scheduler().spawn(self.lane_for_task(color), future, origin.into(), false)
    }

    /// As [`SchedulerHandle::spawn_colored`], for a caller at `origin`; while the task is scheduled there, the
    /// color has the highest priority.
    pub fn spawn_high_from<'a, F>(
        &self,
        origin: impl Into<Origin<'a>>,
        color: Color,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Classes::begin(self.scheduler());
        self.scheduler().spawn(self.lane_for_task(color), future, origin.into(), true)
    }

    /// Spawns a task under a color of its own that equals no other.
    #[track_caller]
    pub fn spawn_unique<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_unique_from(Location::caller(), future)
    }

    /// As [`SchedulerHandle::spawn_unique`], for a caller at `site`.
    pub fn spawn_unique_from<F>(
        &self,
        site: &'static Location<'static>,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.scheduler().spawn(self.unique_lane(), future, site.into(), false)
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
        if worker >= self.scheduler().workers() {
            return Err(f);
        }
        push::post_pinned(&self.lane(color), pin_of(worker), f);
        Ok(())
    }
}

fn lane_of(scheduler: &Arc<Scheduler>, color: Color) -> LaneRef {
    scheduler.table.get_or_insert(color, || make_lane(scheduler, color, Tenure::Published))
}

/// A lane of that color with one reference: a spare one, if this thread has one at hand.
#[inline]
fn make_lane(scheduler: &Arc<Scheduler>, color: Color, tenure: Tenure) -> Box<Lane> {
    scheduler.take_spare(color, tenure).unwrap_or_else(|| {
        let port = arc_dyn!(Arc::clone(scheduler) => dyn Dispatch);
        Box::new(Lane::new(color, port, tenure))
    })
}

impl Scheduler {
    /// The scheduler of a lane; `None` for a port that is no scheduler.
    #[inline]
    pub(super) fn of(lane: &LaneRef) -> Option<&Self> {
        let port: &dyn Any = &*lane.port;
        port.downcast_ref()
    }

    /// Spawns a task on a lane of this scheduler, where any worker may run it.
    #[inline]
    pub(super) fn spawn<F>(
        &self,
        lane: LaneRef,
        future: F,
        origin: Origin<'_>,
        urgent: bool,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: the future and its output are `Send` and borrow nothing, so they may be used anywhere.
        unsafe { self.spawn_on(lane, future, 0, urgent, origin) }
    }

    /// Spawns a task on a lane of this scheduler, on the thread of `pin`.
    ///
    /// # Safety
    ///
    /// As for [`task::Cell::allocate`].
    #[inline]
    pub(super) unsafe fn spawn_on<F: Future>(
        &self,
        lane: LaneRef,
        future: F,
        pin: u32,
        urgent: bool,
        origin: Origin<'_>,
    ) -> JoinHandle<F::Output> {
        match TaskSpan::of_task(lane.color(), origin) {
            // SAFETY: the caller promises it.
            None => unsafe { self.push_task(lane, future, pin, urgent, origin.site, |_| ()) },
            Some(span) => {
                let future = span.around(future);
                let tell = |id| span.set_id(id);
                // SAFETY: the caller promises it of the future, and the span may be used anywhere.
                unsafe { self.push_task(lane, future, pin, urgent, origin.site, tell) }
            }
        }
    }

    /// `tell` hears the id before the task can run.
    ///
    /// # Safety
    ///
    /// As for [`task::Cell::allocate`].
    #[inline]
    unsafe fn push_task<F: Future>(
        &self,
        lane: LaneRef,
        future: F,
        pin: u32,
        urgent: bool,
        site: &'static Location<'static>,
        tell: impl FnOnce(Id),
    ) -> JoinHandle<F::Output> {
        let lane = lane.into_counted();
        // SAFETY: the caller promises to use the task and its output only where `F` may be used.
        let (task, join) = unsafe { task::Cell::allocate(future, lane, pin, urgent, site) };
        self.count_spawn();
        tell(task.id());
        // SAFETY: the task owns a reference to the lane.
        hooks::task_spawned(unsafe { lane.get() }, task);
        // SAFETY: the task is fresh, and owns the reference to the lane, which is of this scheduler.
        unsafe { lane.push_in(task.node(), self) };
        JoinHandle::new(join)
    }
}

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
        self.join.task().abort();
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
        self.join.task().id()
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
        // Only a poll after the first one has a record. The output counts more than a verdict.
        let verdict = match self.wait.record() {
            None => None,
            Some(_) if self.join.is_finished() => {
                self.wait.end();
                return self.join.poll_complete(cx);
            }
            Some(_) => self.wait.begin_poll(),
        };
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
