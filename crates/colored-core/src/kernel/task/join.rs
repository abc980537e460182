//! The handle's side of a task: its output, and its abortion.

use super::Schedule;
use super::error::JoinError;
use super::header::{Header, TaskRef};
use super::id::Id;
use super::state::Joinable;
use crate::kernel::budget;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// The one handle of a task with output `T`: a reference, and the interest in the output.
pub(crate) struct Join<T, S: Schedule> {
    task: TaskRef<S>,
    output: PhantomData<T>,
}

// SAFETY: the handle moves an output of type `T` to the thread that joins, and otherwise uses only
// atomic fields.
unsafe impl<T: Send, S: Schedule> Send for Join<T, S> {}
// SAFETY: through a shared reference only atomic operations can be reached.
unsafe impl<T: Send, S: Schedule> Sync for Join<T, S> {}

impl<T, S: Schedule> Unpin for Join<T, S> {}

impl<T, S: Schedule> Join<T, S> {
    /// # Safety
    ///
    /// The caller gives the handle's reference of a task whose output is `T`.
    pub(crate) unsafe fn new(task: TaskRef<S>) -> Self {
        Self { task, output: PhantomData }
    }

    fn header(&self) -> &Header<S> {
        self.task.header()
    }

    pub(crate) fn id(&self) -> Id {
        self.header().id
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.header().state.is_complete()
    }

    /// The task. It is alive as long as this handle.
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.task
    }

    pub(crate) fn abort(&self) {
        self.task.abort();
    }

    pub(crate) fn abort_handle(&self) -> Abort<S> {
        self.task.abort_handle()
    }

    /// The output, if the task is complete.
    pub(crate) fn try_take(&mut self) -> Option<Result<T, JoinError>> {
        if self.header().state.joinable() != Joinable::Complete {
            return None;
        }
        let mut output = MaybeUninit::<Result<T, JoinError>>::uninit();
        let take_output = self.header().vtable.take_output;
        // SAFETY: the task is complete, and this is the handle of a task with this output.
        unsafe { take_output(self.task, output.as_mut_ptr().cast()) };
        // SAFETY: `take_output` has written the output.
        Some(unsafe { output.assume_init() })
    }

    /// Ensures that `waker` is woken at completion; false if the task is complete.
    pub(crate) fn register(&mut self, waker: &Waker) -> bool {
        match self.header().state.joinable() {
            Joinable::Complete => return false,
            Joinable::NoWaker => {}
            Joinable::HasWaker => {
                if self.header().state.unset_joiner() == Joinable::Complete {
                    return false;
                }
                let same = self.header().joiner.with(|joiner| {
                    // SAFETY: `unset_joiner` has cleared `JOINER`, so the waker belongs to the
                    // handle, which is this one.
                    unsafe { &*joiner }.as_ref().is_some_and(|joiner| joiner.will_wake(waker))
                });
                if same {
                    return self.header().state.set_joiner() != Joinable::Complete;
                }
            }
        }
        self.write_joiner(Some(waker.clone()));
        self.header().state.set_joiner() != Joinable::Complete
    }

    /// Writes the joiner's waker; `JOINER` is clear.
    fn write_joiner(&self, waker: Option<Waker>) {
        let old = self.header().joiner.with_mut(|joiner| {
            // SAFETY: `JOINER` is clear, so the waker belongs to the handle, which is this one.
            std::mem::replace(unsafe { &mut *joiner }, waker)
        });
        drop(old);
    }
}

impl<T, S: Schedule> Future for Join<T, S> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if budget::poll_proceed(cx).is_pending() {
            return Poll::Pending;
        }
        if !self.register(cx.waker()) {
            let output = self.try_take().expect("a complete task can be joined");
            return Poll::Ready(output);
        }
        budget::give_back();
        Poll::Pending
    }
}

impl<T, S: Schedule> Drop for Join<T, S> {
    #[inline]
    fn drop(&mut self) {
        let state = &self.header().state;
        if state.detach_fast() {
            return;
        }
        match state.drop_interest() {
            // SAFETY: the task is complete, and this is its handle.
            Joinable::Complete => unsafe { (self.header().vtable.drop_output)(self.task) },
            Joinable::NoWaker | Joinable::HasWaker => self.write_joiner(None),
        }
        self.task.release_late();
    }
}

/// A reference that can only abort.
pub(crate) struct Abort<S: Schedule>(TaskRef<S>);

// SAFETY: only atomic operations can be reached. The state decides where the future and the output
// are freed, and a task that is freed through this reference has neither.
unsafe impl<S: Schedule> Send for Abort<S> {}
// SAFETY: a shared reference reaches only the state word, which is atomic, and fields that never
// change.
unsafe impl<S: Schedule> Sync for Abort<S> {}

impl<S: Schedule> TaskRef<S> {
    /// A reference that can abort the task.
    pub(crate) fn abort_handle(self) -> Abort<S> {
        self.header().state.retain();
        Abort(self)
    }
}

impl<S: Schedule> Abort<S> {
    pub(crate) fn abort(&self) {
        self.0.abort();
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.0.is_complete()
    }

    pub(crate) fn id(&self) -> Id {
        self.0.id()
    }

    /// The task. It is alive as long as this.
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.0
    }
}

impl<S: Schedule> Clone for Abort<S> {
    fn clone(&self) -> Self {
        self.0.abort_handle()
    }
}

impl<S: Schedule> Drop for Abort<S> {
    fn drop(&mut self) {
        self.0.release();
    }
}
