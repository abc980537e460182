//! [`TaskPanic`]: what is known of a task when it panics.

use super::Schedule;
use super::deadlock::Named;
use super::header::TaskRef;
use super::id::Id;
use crate::kernel::color::Color;
use std::any::Any;
use std::fmt;
use std::panic::Location;

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
