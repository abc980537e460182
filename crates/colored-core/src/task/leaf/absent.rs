//! Without the feature `leaves`, a task has no slot.

/// Nothing.
#[derive(Debug)]
pub(in crate::task) struct LeafSlot;

impl LeafSlot {
    pub(in crate::task) const fn new() -> Self {
        Self
    }

    #[inline]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(in crate::task) fn age(&mut self) {}
}
