//! The part of the scheduler that a dump needs.

use crate::lane::snapshot::View;

/// The scheduler that is told of the tasks of its lanes.
pub(crate) trait HasSnapshot {
    /// The holder of a lane that was asked shows it.
    fn show(&self, _visit: View<'_>) {}
}
