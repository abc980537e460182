//! The waits without a record: [`note`] and [`forget`]. Without the feature `leaves` they do nothing.

#[cfg(feature = "leaves")]
use crate::kernel::lane::{self, current};
use crate::kernel::task::Leaf;

/// Notes that the task that this thread polls waits for a leaf. The leaf calls it before it returns `Pending`, after it has
/// left its waker. A guard, such as the timer of a timeout, counts only if the task waits for no other leaf. Costs some 5 ns, and
/// does nothing outside a task.
#[inline]
#[cfg_attr(not(feature = "leaves"), expect(unused_variables, reason = "nothing is noted"))]
pub fn note(leaf: Leaf, is_guard: bool) {
    #[cfg(feature = "leaves")]
    current::with_polled(|task| {
        if let (Some(task), Some(now)) = (task, lane::noted_time()) {
            task.note_leaf(leaf, is_guard, now);
        }
    });
}

/// Notes that the task no longer waits for a leaf that has returned `Pending` in this poll of the task. The leaf calls it
/// when it is dropped. `is_it` says whether a leaf is the caller's.
#[inline]
#[cfg_attr(not(feature = "leaves"), expect(unused_variables, reason = "nothing is noted"))]
pub fn forget(is_it: impl FnOnce(Leaf) -> bool) {
    #[cfg(feature = "leaves")]
    current::with_polled(|task| {
        if let Some(task) = task {
            task.forget_leaf(is_it);
        }
    });
}
