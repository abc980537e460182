//! What stays on one thread: guests, which are threads that wait in `block_on`, and run only tasks that are pinned to
//! them; and futures that are made on a worker, and pinned to it.
//!
//! # Guests
//!
//! The future of `block_on` is a task like any other, under the default color, except that it is pinned: when its turn
//! in the lane comes, the lane is sent to the guest, which runs a slice of its pinned tasks and sends the lane on.
//! Lanes run in the order in which they are sent. So an uncolored task and the main future never overlap, although the
//! main future needs neither `Send` nor `'static`.
//!
//! # Pinned futures
//!
//! The thread that a task of [`spawn_local`] is pinned to spawns the task, so the task
//! never outlives it. A task of this module may be spawned when its worker has gone already. So its pin
//! allows another thread to cancel it then: a future that has not been made is dropped there, as any future
//! is. A future that has been made keeps its worker from stopping ([`LocalTask`]), and
//! is dropped on the worker. If the program drops the worker before it has stopped, the future leaks,
//! because no other thread may drop it. It has a box of its own, so that the task's memory is freed even
//! then.
//!
//! A worker counts the futures that cannot leave it. A task that waits is in no queue. When all lanes have a request to
//! cancel (`shutdown.rs`), a thread that is no worker may hold the task's lane: in a call that runs there at once, in
//! `block_on`, in a behavior. Then all queues are empty and all workers are parked, but the task has yet to be dropped, here
//! and nowhere else. So a worker with such tasks does not count as having nothing left. Only its thread changes the count, in
//! its slices; the worker that decides whether all may stop reads it while all are parked.

use crate::hooks::{Origin, workers as hooks};
use crate::kernel::color::Color;
use crate::kernel::lane::{LaneRef, Slice, current};
use crate::kernel::sched::handle::SchedulerHandle;
use crate::kernel::sched::local::{self, GuestRunner, Local};
use crate::kernel::sched::remote::{Guest, MAY_BE_DROPPED_ANYWHERE, pin_of};
use crate::kernel::sched::scheduler::CoarseClock;
use crate::kernel::sched::{AbortHandle, JoinHandle};
use crate::kernel::task::JoinError;
use crate::sync::{Arc, ThreadId, this_thread, thread_slot};
use pin_project_lite::pin_project;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{mem, ptr};

/// The `block_on` that this thread is inside.
struct BlockOn {
    handle: SchedulerHandle,
    guest: Arc<Guest>,
    /// The tasks that `spawn_local` has pinned here. They cannot outlive it.
    locals: RefCell<Vec<AbortHandle>>,
}

thread_slot!(static BLOCK_ON: Cell<*const BlockOn> = Cell::new(ptr::null()));

/// Exchanges the `block_on` that this thread is inside, whose type is erased.
///
/// # Safety
///
/// `other` is null, or was this thread's in the frames in which the thread goes on.
#[cfg(feature = "sim")]
pub(crate) unsafe fn exchange(other: &Cell<*const ()>) {
    BLOCK_ON.with(|block_on| other.set(block_on.replace(other.get().cast()).cast()));
}

impl BlockOn {
    fn new(handle: SchedulerHandle) -> Self {
        let guest = handle.scheduler().guests.enter();
        Self { handle, guest, locals: RefCell::new(Vec::new()) }
    }

    #[inline]
    fn current<R>(f: impl FnOnce(Option<&BlockOn>) -> R) -> R {
        let block_on = BLOCK_ON.with(Cell::get);
        // SAFETY: set by `BlockOnScope::begin`, which borrows the value until its drop clears it, on this
        // thread. So the value is neither moved nor borrowed mutably meanwhile.
        f(unsafe { block_on.as_ref() })
    }

    /// Runs the lanes that are sent here until `done`.
    fn run_until(&self, done: impl Fn() -> bool) {
        let scheduler = self.handle.scheduler();
        while !done() {
            // The lane that ran here may have begun a wait, and no worker is awake.
            scheduler.stir();
            let lane = self.guest.take().unwrap_or_else(|| {
                scheduler.park.guest_waits();
                self.guest.wait()
            });
            let (pin, clock) = (self.guest.pin, CoarseClock::default());
            let mut turn = GuestRunner { scheduler, pin, weight: 0, start: 0, clock };
            let slice = match hooks::guest_slice_begins(scheduler) {
                None => lane.run(&mut turn),
                Some(listening) => hooks::run_on_guest(lane, turn, listening),
            };
            match slice {
                Slice::Over => {}
                Slice::More(lane) | Slice::Elsewhere(lane, 0) => scheduler.inject(lane),
                Slice::Elsewhere(lane, pin) => {
                    scheduler.send(pin, lane);
                    // The worker may have stopped while the lane was here.
                    scheduler.drain_if_stopped();
                }
            }
        }
    }
}

/// The time in which this thread finds its [`BlockOn`]. Its end is not that value's own drop, which would borrow the value
/// mutably: the destructors that the end runs find the value, too.
struct BlockOnScope<'a>(&'a BlockOn);

impl<'a> BlockOnScope<'a> {
    fn begin(block_on: &'a BlockOn) -> Self {
        BLOCK_ON.with(|current| current.set(block_on));
        Self(block_on)
    }
}

impl Drop for BlockOnScope<'_> {
    fn drop(&mut self) {
        let block_on = self.0;
        // A destructor may spawn another.
        while let locals = block_on.locals.take()
            && !locals.is_empty()
        {
            locals.iter().for_each(AbortHandle::abort);
            block_on.run_until(|| locals.iter().all(AbortHandle::is_finished));
        }
        BLOCK_ON.with(|current| current.set(ptr::null()));
        block_on.handle.scheduler().guests.leave(&block_on.guest);
    }
}

/// The handle of the scheduler that this thread is a guest of.
#[inline]
pub(super) fn with_handle<R>(f: impl FnOnce(Option<&SchedulerHandle>) -> R) -> R {
    BlockOn::current(|block_on| f(block_on.map(|block_on| &block_on.handle)))
}

/// Why a future cannot be blocked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nested {
    /// This thread runs a task.
    InTask,
    /// This thread is inside another `block_on`.
    InBlockOn,
}

/// Ends the process if it is dropped: an unwind would free values that a task still borrows.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl SchedulerHandle {
    /// Runs a future under [`Color::DEFAULT`] on this thread, which meanwhile runs only tasks that
    /// are pinned to it.
    ///
    /// # Errors
    ///
    /// The outer error if this thread is running something already; the inner error if the future
    /// panicked, or the scheduler shut down.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> Result<Result<F::Output, JoinError>, Nested> {
        if current::lane().is_some() || local::with(|local| local.is_some()) {
            return Err(Nested::InTask);
        }
        if BlockOn::current(|block_on| block_on.is_some()) {
            return Err(Nested::InBlockOn);
        }
        let block_on = BlockOn::new(self.clone());
        let scope = BlockOnScope::begin(&block_on);
        let bomb = AbortOnUnwind;
        let (site, default) = (Location::caller(), self.lane(Color::DEFAULT));
        // SAFETY: pinned to this guest, so the future is polled and dropped on this thread only; and
        // this frame does not end before the task is complete, for an unwind would hit the bomb.
        let mut root = unsafe {
            self.scheduler().spawn_on(default, future, block_on.guest.pin, false, site.into())
        };
        block_on.run_until(|| root.is_finished());
        mem::forget(bomb);
        let output = root.try_take().expect("the task is complete");
        drop(scope);
        Ok(output)
    }
}

/// Spawns a task that stays on this thread, under the color that runs here or the default one.
///
/// # Errors
///
/// The future, if this thread is neither a worker nor inside `block_on`.
#[track_caller]
pub fn spawn_local<F: Future + 'static>(future: F) -> Result<JoinHandle<F::Output>, F> {
    // A guest may step a worker: then the worker is the inner one of the two.
    let as_worker = local::with(|local| {
        let local = local?;
        Some((local.handle().clone(), local.pin(), Some(LocalTask::begin(local))))
    });
    let as_guest = || {
        BlockOn::current(|block_on| {
            block_on.map(|block_on| (block_on.handle.clone(), block_on.guest.pin, None))
        })
    };
    let Some((handle, pin, local_task)) = as_worker.or_else(as_guest) else { return Err(future) };
    let is_guest = local_task.is_none();
    let future = BoundFuture { future, local_task };
    // The pin means nothing to another scheduler, whose lane this thread may hold because it calls one of its cells.
    let lane = here(&handle).unwrap_or_else(|| handle.lane(Color::DEFAULT));
    // SAFETY: the task is pinned to this thread, and borrows nothing.
    let join =
        unsafe { handle.scheduler().spawn_on(lane, future, pin, false, Location::caller().into()) };
    BlockOn::current(|block_on| {
        let Some(block_on) = block_on.filter(|_| is_guest) else { return };
        let mut locals = block_on.locals.borrow_mut();
        if locals.len() == locals.capacity() {
            locals.retain(|task| !task.is_finished());
        }
        locals.push(join.abort_handle());
    });
    Ok(join)
}

/// A counted reference to the lane on which [`spawn_local`] would spawn here.
pub(super) fn local_lane() -> Option<LaneRef> {
    let as_worker = local::with(|local| local.map(|local| local.handle().clone()));
    let handle = as_worker.or_else(|| with_handle(|handle| handle.cloned()))?;
    Some(match here(&handle) {
        // Counted at once: the holder's own reference is counted when its slice ends.
        Some(lane) => LaneRef::clone(&lane),
        None => handle.lane(Color::DEFAULT),
    })
}

/// The lane of this scheduler that this thread holds, if it holds one, for use by the holder.
fn here(handle: &SchedulerHandle) -> Option<LaneRef> {
    LaneRef::of_holder().filter(|lane| lane.is_of(handle.scheduler()))
}

impl SchedulerHandle {
    /// Whether this thread runs under a color of this scheduler right now, or is its worker or guest. A worker or guest
    /// may run under a color of the scheduler further up the stack, and under another scheduler's color right now.
    #[must_use]
    pub fn runs_here(&self) -> bool {
        here(self).is_some()
            || local::index_in(self.scheduler()).is_some()
            || with_handle(|own| own.is_some_and(|own| own.same(self)))
    }
}

impl SchedulerHandle {
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
        if worker >= self.scheduler().workers() {
            return Err(make);
        }
        let pin = pin_of(worker) | MAY_BE_DROPPED_ANYWHERE;
        Ok(self.spawn_made(site.into(), Some(color), pin, make))
    }

    /// Spawns the future that `make` makes under a color, a fresh one if there is none, for a caller at `origin`. Any
    /// worker takes the task's first turn, and makes the future; from then on the task is pinned to it. So the future
    /// need not be `Send`.
    pub fn spawn_settling_from<'a, M, F>(
        &self,
        origin: impl Into<Origin<'a>>,
        color: Option<Color>,
        make: M,
    ) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_made(origin.into(), color, 0, make)
    }

    fn spawn_made<M, F>(
        &self,
        origin: Origin<'_>,
        color: Option<Color>,
        pin: u32,
        make: M,
    ) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        let lane = color.map_or_else(|| self.unique_lane(), |color| self.lane(color).for_node());
        let pinned = PinnedFuture { make: Some(make), made: None };
        // SAFETY: nothing is borrowed, and `make` is `Send`. Its future is made by a worker that promises to stay on its
        // thread, to which the task is pinned then at the latest; it is polled there, and dropped on that thread only.
        unsafe { self.scheduler().spawn_on(lane, pinned, pin, false, origin) }
    }
}

/// A future that is made on the thread that polls it first, and dropped only there.
struct PinnedFuture<M, F> {
    make: Option<M>,
    made: Option<(Pin<Box<F>>, ThreadId, LocalTask)>,
}

impl<M, F> Unpin for PinnedFuture<M, F> {}

impl<M: FnOnce() -> F, F: Future> Future for PinnedFuture<M, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        if let Some(make) = this.make.take() {
            let here = |local: Option<&Local>| {
                let local = local.expect("a worker polls the task");
                let pin = local.pin() | MAY_BE_DROPPED_ANYWHERE;
                current::with_polled(|task| task.expect("this is a poll of the task").pin_to(pin));
                LocalTask::begin(local)
            };
            let local_task = local::with(here);
            this.made = Some((Box::pin(make()), this_thread(), local_task));
        }
        let (future, ..) =
            this.made.as_mut().expect("a task whose first turn panics has no second");
        future.as_mut().poll(cx)
    }
}

impl<M, F> Drop for PinnedFuture<M, F> {
    fn drop(&mut self) {
        if let Some(made) = self.made.take()
            && made.1 != this_thread()
        {
            mem::forget(made);
        }
    }
}

/// A future on this thread, which is a worker, cannot leave it.
struct LocalTask(PhantomData<*const ()>);

impl LocalTask {
    /// Called in a slice of the worker, as is the drop.
    fn begin(local: &Local) -> Self {
        local.bind_to_thread();
        local.remote().local_tasks.add();
        Self(PhantomData)
    }
}

impl Drop for LocalTask {
    fn drop(&mut self) {
        local::with(|local| {
            local.expect("a local future ends on its worker").remote().local_tasks.remove()
        });
    }
}

pin_project! {
    /// A future that stays on the thread that spawned it. If that thread is a worker, the future keeps
    /// the worker from stopping.
    struct BoundFuture<F> {
        #[pin]
        future: F,
        // Dropped after the future, whose drop may take its time.
        local_task: Option<LocalTask>,
    }
}

impl<F: Future> Future for BoundFuture<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}
