//! The slot of a task for its [`Leaf`].

use super::Schedule;
use super::header::TaskRef;
use super::leaf::Leaf;

impl<S: Schedule> TaskRef<S> {
    /// Notes that a leaf has returned `Pending`.
    ///
    /// # Safety
    ///
    /// The caller polls the task.
    #[inline]
    pub(crate) unsafe fn note_leaf(self, leaf: Leaf, is_guard: bool, now: u64) {
        // SAFETY: the caller promises that it polls the task, which has the slot to itself, and `set` runs no other code.
        self.header().leaf.with_mut(|slot| unsafe { (*slot).set(leaf, is_guard, now) });
    }

    /// Forgets the leaf of this poll, if `is_it` says so. `is_it` runs no code that could come here again.
    ///
    /// # Safety
    ///
    /// The caller polls the task.
    #[inline]
    pub(crate) unsafe fn forget_leaf(self, is_it: impl FnOnce(Leaf) -> bool) {
        // SAFETY: as in `note_leaf`.
        self.header().leaf.with_mut(|slot| unsafe { (*slot).forget(is_it) });
    }

    /// The leaf that the task waits for, and for how many nanoseconds at `now`.
    ///
    /// # Safety
    ///
    /// No thread polls the task meanwhile, or the caller polls it.
    pub(crate) unsafe fn leaf(self, now: u64) -> Option<(Leaf, u64)> {
        // SAFETY: only polls of the task write the slot, and the caller promises that no other thread polls it.
        self.header().leaf.with(|slot| unsafe { (*slot).read(now) })
    }
}
