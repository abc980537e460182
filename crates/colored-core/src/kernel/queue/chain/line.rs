//! The line behind the head, to look at.

use super::{Chain, Kind, Node};
use crate::sync::Ordering;
use std::ptr::NonNull;

impl Chain {
    /// Whether no node is behind the head. Only the holder calls this. True only if the caller knows of no push behind
    /// the head.
    #[inline]
    pub(crate) fn has_head_only(&self) -> bool {
        // Ordering: a push that the caller knows of happened before this load, which so sees that tail or a later one.
        self.tail.load(Ordering::Relaxed) == self.head().as_ptr()
    }

    /// The node behind `before`, if it can be seen. `before` is in the chain. The caller is the holder, or no other
    /// thread takes out nodes behind `before`.
    pub(crate) fn next(&self, before: NonNull<Node>) -> Option<(NonNull<Node>, Kind)> {
        let node = NonNull::new(Self::next_of(before))?;
        // SAFETY: the node is in the chain behind `before`, where no other thread takes nodes out, so it is alive.
        Some((node, unsafe { node.as_ref() }.kind))
    }
}
