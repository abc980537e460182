//! The end of a task, for its handle: the output, or why there is none ([`JoinError`]); and its abortion. A panic is told to
//! the shell ([`TaskPanic`]); one of user code that has no receiver ends in [`contain`].

use crate::kernel::budget;
use crate::kernel::color::Color;
use crate::kernel::task::Schedule;
use crate::kernel::task::id::Id;
use crate::kernel::task::state::Joinable;
use crate::kernel::task::wait_record::{Deadlock, Named};
use crate::kernel::task::{Header, TaskRef};
use crate::sync::thread_slot;
use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::{fmt, io, mem};

/// The one handle of a task with output `T`: a reference, and the interest in the output.
pub(crate) struct Join<T, S: Schedule> {
    task: TaskRef<S>,
    /// The output has been taken.
    is_taken: bool,
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
        Self { task, is_taken: false, output: PhantomData }
    }

    fn header(&self) -> &Header<S> {
        self.task.header()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.header().state.is_complete()
    }

    /// The task. It is alive as long as this handle.
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.task
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
        self.is_taken = true;
        // SAFETY: `take_output` has written the output.
        Some(unsafe { output.assume_init() })
    }

    /// As a poll, of a task that is complete.
    #[inline]
    pub(crate) fn poll_complete(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        ready!(budget::poll_proceed(cx));
        Poll::Ready(self.try_take().expect("a complete task can be joined"))
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
            mem::replace(unsafe { &mut *joiner }, waker)
        });
        drop(old);
    }
}

impl<T, S: Schedule> Future for Join<T, S> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(budget::poll_proceed(cx));
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
        if self.is_taken {
            return self.task.release_late();
        }
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

/// Why a task has no output: it was cancelled, or it panicked. Or why it cannot be awaited here and
/// now: see [`deadlock`](Self::deadlock).
pub struct JoinError {
    id: Id,
    /// Boxed, so that a task needs a word less for its output.
    payload: Option<Box<Payload>>,
}

struct Payload(Box<dyn Any + Send>);

/// Takes the place of a panic's payload, so that the error has room for it. No panic has this type.
struct Diagnosed(Deadlock);

// SAFETY: only `into_panic`, by value, takes the payload out. A shared reference reaches it as a
// `&str`, a `String` or a `Diagnosed` only, and these are `Sync`.
unsafe impl Sync for Payload {}

impl JoinError {
    pub(crate) fn cancelled(id: Id) -> Self {
        Self { id, payload: None }
    }

    pub(crate) fn panicked(id: Id, payload: Box<dyn Any + Send>) -> Self {
        Self { id, payload: Some(Box::new(Payload(payload))) }
    }

    pub(crate) fn deadlocked(id: Id, deadlock: Deadlock) -> Self {
        Self { id, payload: Some(Box::new(Payload(Box::new(Diagnosed(deadlock))))) }
    }

    /// Whether waiting for the task here would never end; see [`JoinError::deadlock`].
    #[must_use]
    pub fn is_deadlock(&self) -> bool {
        self.deadlock().is_some()
    }

    /// The cycle of waits that this wait is part of: the task can only be done after the end of a
    /// section ([`exclusive`](crate::exclusive())) that waits for the task.
    ///
    /// The task itself goes on. Its handle may be awaited again after the section.
    #[must_use]
    pub fn deadlock(&self) -> Option<&Deadlock> {
        let Payload(payload) = &**self.payload.as_ref()?;
        payload.downcast_ref::<Diagnosed>().map(|Diagnosed(deadlock)| deadlock)
    }

    /// Whether the task was aborted, or its runtime shut down before it was done.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.payload.is_none()
    }

    /// Whether the task panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.payload.is_some() && !self.is_deadlock()
    }

    /// The payload of the task's panic, as [`std::thread::JoinHandle::join`] returns it, for
    /// [`std::panic::resume_unwind`].
    ///
    /// # Panics
    ///
    /// If the task did not panic; [`JoinError::try_into_panic`] returns an error then.
    #[must_use]
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(error) => panic!("`into_panic` on a task that did not panic: {error}"),
        }
    }

    /// The payload of the task's panic.
    ///
    /// # Errors
    ///
    /// The error itself, if the task did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.payload {
            Some(payload) if !payload.0.is::<Diagnosed>() => Ok(payload.0),
            payload => Err(Self { id: self.id, payload }),
        }
    }

    /// The task.
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }

    fn message(&self) -> Option<&str> {
        text_of(&*self.payload.as_ref()?.0)
    }
}

/// The message, if the payload is a text.
fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(deadlock) = self.deadlock() {
            return write!(f, "JoinError::Deadlock({:?}, {deadlock:?})", self.id);
        }
        match (&self.payload, self.message()) {
            (None, _) => write!(f, "JoinError::Cancelled({:?})", self.id),
            (Some(_), Some(text)) => write!(f, "JoinError::Panic({:?}, {text:?})", self.id),
            (Some(_), None) => write!(f, "JoinError::Panic({:?}, ...)", self.id),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(deadlock) = self.deadlock() {
            return write!(f, "{:?} cannot be awaited here: {deadlock}", self.id);
        }
        match (&self.payload, self.message()) {
            (None, _) => write!(f, "{:?} was cancelled", self.id),
            (Some(_), Some(text)) => write!(f, "{:?} panicked with message {text:?}", self.id),
            (Some(_), None) => write!(f, "{:?} panicked", self.id),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> Self {
        Self::other(error)
    }
}

/// The panic of a task, of its poll or of its destructor, before the task's handle receives it.
#[non_exhaustive]
pub struct TaskPanic<'a> {
    /// The task.
    pub task: Id,
    /// The color under which the task ran.
    pub color: Color,
    /// Where the task was spawned.
    pub spawned: &'static Location<'static>,
    /// Whether the task has no handle: no code will ever receive the panic. A handle may also be dropped later.
    pub is_detached: bool,
    /// The payload, as [`std::panic::PanicHookInfo::payload`] returns it.
    pub payload: &'a (dyn Any + Send),
}

impl<'a> TaskPanic<'a> {
    pub(crate) fn new<S: Schedule>(
        task: TaskRef<S>,
        color: Color,
        payload: &'a (dyn Any + Send),
    ) -> Self {
        let named = task.named();
        let is_detached = !task.has_handle();
        Self { task: named.id, color, spawned: named.spawned, is_detached, payload }
    }

    /// The message, if the payload is a text, as that of [`panic!`] is.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        text_of(self.payload)
    }
}

impl fmt::Display for TaskPanic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task: id, color, spawned, is_detached, .. } = *self;
        write!(f, "{} under {color} has panicked", Named { id, spawned })?;
        if is_detached { f.write_str(", and has no handle") } else { Ok(()) }
    }
}

impl fmt::Debug for TaskPanic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskPanic")
            .field("task", &self.task)
            .field("color", &self.color)
            .field("spawned", &format_args!("{}", self.spawned))
            .field("is_detached", &self.is_detached)
            .field("message", &self.message())
            .finish()
    }
}

thread_slot!(static UNHEARD: Cell<fn()> = Cell::new(|| ()));

/// Has this thread call the function behind each panic that it has caught and of which nobody else will hear: as
/// [`contain`] catches it, or a task or blocking call without a handle.
pub fn on_unheard_panics(tell: fn()) {
    UNHEARD.with(|of| of.set(tell));
}

/// This thread has caught a panic of which nobody else will hear.
pub(crate) fn note_unheard() {
    UNHEARD.with(Cell::get)();
}

/// Runs `f` and goes on, whatever `f` does. The panic hook has reported a panic; its payload is
/// dropped.
pub fn contain(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        drop_unheard(payload);
    }
}

#[cold]
fn drop_unheard(payload: Box<dyn Any + Send>) {
    note_unheard();
    // The payload may panic when it is dropped, and that one's payload too.
    mem::forget(catch_unwind(AssertUnwindSafe(|| drop(payload))));
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::contain;
    use std::panic::panic_any;

    struct Poison(u32);

    impl Drop for Poison {
        fn drop(&mut self) {
            panic_any(Poison(self.0 + 1));
        }
    }

    #[test]
    fn a_payload_that_panics_for_ever_is_contained() {
        contain(|| panic_any(Poison(0)));
    }
}
