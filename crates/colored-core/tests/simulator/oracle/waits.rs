//! The waits of tasks, in sections and beside them (G12).

use super::{CallKey, Hue, Oracle};
use crate::slab::Key;

/// A wait of a task that the section of another task may keep from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The end of a task.
    Task(Key),
    /// The turn of a call.
    Call(CallKey),
    /// A turn under a color.
    Color(Hue),
    /// The end of a `when` or a `read`.
    Behavior(Key),
}

impl Oracle {
    /// A task waits for this from now on, or for nothing.
    pub(crate) fn set_wait(&mut self, key: Key, over: Option<Over>) {
        if let Some(task) = self.tasks.get_mut(key) {
            task.over = over;
        }
    }

    /// Whether a task was spawned after another one.
    pub(crate) fn is_younger(&self, key: Key, than: Key) -> bool {
        let serial = |key| self.tasks.get(key).map(|task| task.serial);
        serial(key) > serial(than)
    }
}
