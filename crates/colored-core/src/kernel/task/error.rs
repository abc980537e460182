//! [`JoinError`]: why a task has no output; and [`TaskPanic`]: what is known of a task when it panics.

use super::Schedule;
use super::deadlock::{Deadlock, Named};
use super::header::TaskRef;
use super::id::Id;
use crate::kernel::color::Color;
use std::any::Any;
use std::panic::Location;
use std::{fmt, io};

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
        let payload = &*self.payload.as_ref()?.0;
        payload
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
    }
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
        let text = self.payload.downcast_ref::<&'static str>().copied();
        text.or_else(|| self.payload.downcast_ref::<String>().map(String::as_str))
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
