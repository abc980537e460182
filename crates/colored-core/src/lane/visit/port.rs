//! The part of the scheduler that a dump needs.

use crate::lane::visit::Visit;

/// The scheduler that is told of the tasks of its lanes.
pub(crate) trait HasVisits {
    /// The holder of a lane that was asked shows it.
    fn visited(&self, _visit: Visit<'_>) {}
}
