//! The slot of a task for its [`Leaf`].

use super::Schedule;
use super::leaf::Leaf;
use super::turn::{PolledTask, Unpolled};

impl<S: Schedule> PolledTask<'_, S> {
    /// Notes that a leaf has returned `Pending`.
    #[inline]
    pub(crate) fn note_leaf(&self, leaf: Leaf, is_guard: bool, now: u64) {
        // SAFETY: the poll of the task has the slot to itself, and `set` runs no other code.
        self.task().header().leaf.with_mut(|slot| unsafe { (*slot).set(leaf, is_guard, now) });
    }

    /// Forgets the leaf of this poll, if `is_it` says so. `is_it` runs no code that could come here again.
    #[inline]
    pub(crate) fn forget_leaf(&self, is_it: impl FnOnce(Leaf) -> bool) {
        // SAFETY: the poll of the task has the slot to itself, and `is_it` does not come here again.
        self.task().header().leaf.with_mut(|slot| unsafe { (*slot).forget(is_it) });
    }
}

impl<S: Schedule> Unpolled<'_, S> {
    /// The leaf that the task waits for, and for how many nanoseconds at `now`.
    pub(crate) fn leaf(&self, now: u64) -> Option<(Leaf, u64)> {
        // SAFETY: only polls of the task write the slot, and no other thread polls it.
        self.task().header().leaf.with(|slot| unsafe { (*slot).read(now) })
    }
}
