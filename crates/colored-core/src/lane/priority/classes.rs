//! The part of the scheduler that priorities need.

use crate::lane::{LanePtr, Priority};

/// The scheduler of lanes that have priorities.
pub(crate) trait HasClasses {
    /// Whether any color has been given a priority.
    fn has_classes(&self) -> bool {
        false
    }

    /// A lane that waits in a queue has become more urgent than the queue's class. The caller gives a reference to it.
    fn rise(&self, _lane: LanePtr, _to: Priority) {
        unreachable!("a scheduler without classes queues no lane by class")
    }
}
