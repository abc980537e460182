//! The allocation of a task, and the operations on its future: the part that knows the type, behind a table of
//! functions. Its waker is one reference to it.
//!
//! All other code has a pointer to the task's [`Header`], whose table was made for the future of
//! that very allocation. So the functions may cast it to a [`Cell`] of their own type.

#[cfg(feature = "leaves")]
use crate::hooks::slots::LeafSlot;
use crate::kernel::chain::{Kind, Node};
use crate::kernel::memory::Boxed;
use crate::kernel::task::Schedule;
use crate::kernel::task::id::Id;
use crate::kernel::task::join::{Join, JoinError, contain};
use crate::kernel::task::state::State;
use crate::kernel::task::wait_record::WaitRecords;
use crate::kernel::task::{Header, Links, TaskRef, Vtable};
use crate::sync::{AtomicPtr, UnsafeCell};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// The future, then its output.
enum Stage<F: Future> {
    Future(F),
    Output(Result<F::Output, JoinError>),
    Gone,
}

/// A whole task.
#[repr(C)]
pub(crate) struct Cell<F: Future, S: Schedule> {
    header: Header<S>,
    stage: UnsafeCell<Stage<F>>,
}

impl<F: Future, S: Schedule> Cell<F, S> {
    const VTABLE: &'static Vtable<S> = &Vtable {
        poll: poll::<F, S>,
        cancel: cancel::<F, S>,
        take_output: take_output::<F, S>,
        drop_output: drop_output::<F, S>,
        free: free_cell::<F, S>,
    };

    /// Makes a task that is ready to be pushed on `lane`, with one reference for the runtime and
    /// one for the handle.
    ///
    /// # Safety
    ///
    /// * The task is polled, cancelled and completed only where `F` may be used: if `F` is not
    ///   `Send`, on one thread (`pin` says which); if `F` borrows, before the borrow ends.
    /// * The output is taken or dropped under the same conditions.
    #[inline]
    pub(crate) unsafe fn allocate(
        future: F,
        lane: S,
        pin: u32,
        urgent: bool,
        spawned: &'static Location<'static>,
    ) -> (TaskRef<S>, Join<F::Output, S>) {
        let cell = |place: NonNull<Self>| Self {
            header: Header {
                node: Node::new(Kind::Task, pin).urged(urgent),
                state: State::spawned(),
                vtable: Self::VTABLE,
                lane: AtomicPtr::new(lane.into_raw().as_ptr()),
                id: Id::next(),
                spawned,
                live: UnsafeCell::new(Links::unlinked(place.cast())),
                joiner: UnsafeCell::new(None),
                records: UnsafeCell::new(WaitRecords::new()),
                #[cfg(feature = "leaves")]
                leaf: UnsafeCell::new(LeafSlot::new()),
            },
            stage: UnsafeCell::new(Stage::Future(future)),
        };
        let task = TaskRef(Boxed::new_at(cell).into_raw().cast());
        // SAFETY: the fresh task has a reference for its handle, and this output.
        let join = unsafe { Join::new(task) };
        (task, join)
    }

    fn stage(task: TaskRef<S>) -> *const UnsafeCell<Stage<F>> {
        let cell = task.as_ptr().cast::<Self>();
        // SAFETY: the vtable that led here was made for a cell of this type.
        unsafe { &raw const (*cell).stage }
    }

    /// # Safety
    ///
    /// The caller has the right to the stage (table in [`super`]).
    unsafe fn with_stage<R>(task: TaskRef<S>, f: impl FnOnce(*mut Stage<F>) -> R) -> R {
        // SAFETY: the caller's right implies that the task is alive.
        unsafe { &*Self::stage(task) }.with_mut(f)
    }

    /// Drops the future in its place, then stores the output.
    ///
    /// # Safety
    ///
    /// The caller holds the task's lane and the stage is the future.
    unsafe fn finish(task: TaskRef<S>, stage: *mut Stage<F>, output: Result<F::Output, JoinError>) {
        // SAFETY: the caller holds the lane and the stage is the future, so only this thread uses the stage.
        let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { ptr::drop_in_place(stage) }));
        let output = match dropped {
            Ok(()) => output,
            Err(payload) => {
                // The output's own destructor may panic as well; that second panic is dropped.
                contain(|| drop(output));
                Err(panicked(task, payload))
            }
        };
        // SAFETY: `drop_in_place` has emptied the place, also if it has panicked, and the caller holds the lane.
        unsafe { stage.write(Stage::Output(output)) };
    }
}

/// The output of a task that has panicked.
#[cold]
fn panicked<S: Schedule>(task: TaskRef<S>, payload: Box<dyn Any + Send>) -> JoinError {
    S::panicked(task, &*payload);
    JoinError::panicked(task.id(), payload)
}

unsafe fn poll<F: Future, S: Schedule>(task: TaskRef<S>) -> bool {
    let poll = |stage: *mut Stage<F>| {
        // SAFETY: the runtime's reference keeps the task alive during the poll, and the waker does not outlive the
        // poll.
        let waker = unsafe { borrowed(task) };
        let mut cx = Context::from_waker(&waker);
        let polled = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: only the holder of the lane uses the future, and the caller holds the lane.
            let Stage::Future(future) = (unsafe { &mut *stage }) else {
                unreachable!("a task that is not complete has its future")
            };
            // SAFETY: no code moves the future out of its allocation; `finish` drops it in its place.
            let future = unsafe { Pin::new_unchecked(future) };
            future.poll(&mut cx)
        }));
        let output = match polled {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => Err(panicked(task, payload)),
        };
        // SAFETY: the caller holds the lane, and the match above has found the future in the stage.
        unsafe { Cell::<F, S>::finish(task, stage, output) };
        true
    };
    // SAFETY: the caller holds the lane, and the task is not complete, so the stage is the caller's.
    unsafe { Cell::<F, S>::with_stage(task, poll) }
}

unsafe fn cancel<F: Future, S: Schedule>(task: TaskRef<S>) {
    let cancel = |stage| {
        let error = JoinError::cancelled(task.id());
        // SAFETY: the caller holds the lane, and the stage of a task that is not complete is the future.
        unsafe { Cell::<F, S>::finish(task, stage, Err(error)) };
    };
    // SAFETY: the caller holds the lane, and the task is not complete, so the stage is the caller's.
    unsafe { Cell::<F, S>::with_stage(task, cancel) };
}

unsafe fn take_output<F: Future, S: Schedule>(task: TaskRef<S>, into: *mut ()) {
    let take = |stage: *mut Stage<F>| {
        // SAFETY: the task is complete and the caller is its handle, so only this thread uses the stage.
        let Stage::Output(output) = std::mem::replace(unsafe { &mut *stage }, Stage::Gone) else {
            panic!("a `JoinHandle` was polled again after it had given the output")
        };
        // SAFETY: the caller promises that `into` is a place for this type.
        unsafe { into.cast::<Result<F::Output, JoinError>>().write(output) };
    };
    // SAFETY: the caller promises that the task is complete and that it is the handle, to which the output belongs.
    unsafe { Cell::<F, S>::with_stage(task, take) };
}

unsafe fn drop_output<F: Future, S: Schedule>(task: TaskRef<S>) {
    let drop_it = |stage: *mut Stage<F>| {
        // SAFETY: the caller is the handle, or the holder of a task without a handle, so only this thread uses the
        // stage.
        let Stage::Output(output) = std::mem::replace(unsafe { &mut *stage }, Stage::Gone) else {
            return;
        };
        let id = task.id();
        // A destructor that panics must not stop the worker.
        contain(|| id.drop_output(|| drop(output)));
    };
    // SAFETY: the caller promises that the task is complete, and that it is the handle, or the holder if there is no
    // handle.
    unsafe { Cell::<F, S>::with_stage(task, drop_it) };
}

unsafe fn free_cell<F: Future, S: Schedule>(task: TaskRef<S>) {
    // SAFETY: the vtable belongs to a cell of this type, which `allocate` made, and the caller promises that no thread
    // has a reference any more.
    drop(unsafe { Boxed::from_raw(task.0.cast::<Cell<F, S>>()) });
}

/// The table for the one static that an implementation of [`Schedule::waker_table`] returns.
pub(crate) const fn table<S: Schedule>() -> RawWakerVTable {
    RawWakerVTable::new(clone::<S>, wake::<S>, wake_by_ref::<S>, release::<S>)
}

/// A waker that borrows the caller's reference, for the time of one poll.
///
/// # Safety
///
/// The task outlives the waker.
#[inline]
pub(super) unsafe fn borrowed<S: Schedule>(task: TaskRef<S>) -> ManuallyDrop<Waker> {
    let raw = RawWaker::new(task.as_ptr().cast(), S::waker_table());
    // SAFETY: the table keeps the contract of `RawWaker`: thread-safe, and each waker but this one,
    // which is never dropped, counts as a reference.
    ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
}

impl<S: Schedule> TaskRef<S> {
    /// A waker of the task.
    pub(crate) fn waker(self) -> Waker {
        // SAFETY: the task is alive while the view is used, and this waker does not outlive the call.
        let waker = unsafe { borrowed(self) };
        Waker::clone(&waker)
    }

    /// Whether `waker` is this task's own, and not one that a combinator made.
    #[inline]
    pub(crate) fn owns(self, waker: &Waker) -> bool {
        waker.data() == self.as_ptr().cast::<()>() && ptr::eq(waker.vtable(), S::waker_table())
    }
}

/// The task of a waker, which has a reference to it.
fn task_of<S: Schedule>(data: *const ()) -> TaskRef<S> {
    TaskRef(NonNull::new(data.cast_mut().cast()).expect("a waker points to its task"))
}

unsafe fn clone<S: Schedule>(data: *const ()) -> RawWaker {
    task_of::<S>(data).header().state.retain();
    RawWaker::new(data, S::waker_table())
}

unsafe fn wake_by_ref<S: Schedule>(data: *const ()) {
    let task = task_of::<S>(data);
    if !S::mark_yielded(task) {
        task.wake();
    }
}

unsafe fn wake<S: Schedule>(data: *const ()) {
    task_of::<S>(data).change(State::wake_and_release);
}

unsafe fn release<S: Schedule>(data: *const ()) {
    task_of::<S>(data).release();
}
