//! The part of the scheduler that sections need.

use crate::lane::LanePtr;
use crate::task::TaskRef;
use std::num::NonZeroU32;

/// Where the scheduler remembers a task that keeps its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectionKey(NonZeroU32);

impl SectionKey {
    pub(crate) fn new(index: u32) -> Self {
        let number = index.checked_add(1).and_then(NonZeroU32::new);
        Self(number.expect("fewer than 2³² tasks keep their lanes"))
    }

    pub(crate) fn index(self) -> u32 {
        self.0.get() - 1
    }
}

/// The scheduler of tasks that keep their lanes.
pub(crate) trait HasSections {
    /// Remembers a task that is about to wait and keeps its lane, so that a shutdown can abort it: a node that is
    /// pushed on such a lane has no turn. Fails if the scheduler is closing.
    fn enter_section(&self, task: TaskRef<LanePtr>) -> Result<SectionKey, Closing>;

    /// Forgets the task again, before it leaves the lane.
    fn remove_section(&self, section: SectionKey);
}

/// The scheduler is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closing;
