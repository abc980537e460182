//! The waker of a task: one reference to it.

use super::Schedule;
use super::header::TaskRef;
use super::state::State;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::task::{RawWaker, RawWakerVTable, Waker};

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
