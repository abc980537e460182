//! [`Nesting`]: where a stack that is not the thread's own may be suspended.

use super::CURRENT;
use crate::kernel::lane::base::LanePtr;
use crate::kernel::task::TaskRef;
use std::fmt;

/// A closure that must return before the turn of its caller ends: it has a value that other work of the color uses
/// later. Code that could suspend a stack inside of it asks [`Nesting`].
#[derive(Debug)]
#[must_use = "dropping it says that the closure has returned"]
pub struct Closure(());

impl Closure {
    /// Call this before the closure, and drop the value afterwards.
    #[inline]
    pub fn begin() -> Self {
        CURRENT.with(|current| current.closures.set(current.closures.get() + 1));
        Self(())
    }
}

impl Drop for Closure {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| current.closures.set(current.closures.get() - 1));
    }
}

/// What this thread is inside of: a poll, and closures that must return in their turn. A stack may be suspended only where
/// it is inside of the same as where it was resumed.
#[derive(Clone, Copy, PartialEq)]
pub struct Nesting {
    task: Option<TaskRef<LanePtr>>,
    closures: u32,
}

impl Nesting {
    /// That of the caller. A closure that runs at once under a lane of its own is inside of no task.
    #[inline]
    #[must_use]
    pub fn here() -> Self {
        CURRENT.with(|current| Self { task: current.task.get(), closures: current.closures.get() })
    }
}

impl fmt::Debug for Nesting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nesting").field("closures", &self.closures).finish_non_exhaustive()
    }
}
