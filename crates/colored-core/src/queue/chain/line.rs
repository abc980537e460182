//! The line behind the head: reading it, and taking nodes out of it.

use super::{Chain, Kind, Node};
use crate::sync::Ordering;
use std::ptr::{self, NonNull};

impl Chain {
    /// The last node in line; null if no thread holds the chain. Any thread may call this; may be out of date.
    #[inline]
    pub(crate) fn last(&self) -> *const Node {
        // Ordering: Acquire pairs with the Release of the change that is seen, so that this thread sees the chain, and
        // the words that go with it, no older than that change.
        self.tail.load(Ordering::Acquire)
    }

    /// Whether no node is behind the head. Only the holder calls this. True only if the caller knows of no push behind
    /// the head.
    #[inline]
    pub(crate) fn has_head_only(&self) -> bool {
        // Ordering: a push that the caller knows of happened before this load, which so sees that tail or a later one.
        self.tail.load(Ordering::Relaxed) == self.head().as_ptr()
    }

    /// Takes the node behind `before` out, if there is one, it is of that kind, and no producer behind it is half done.
    /// Only the holder calls this, and `before` is in the chain.
    pub(crate) fn take_behind(&self, before: NonNull<Node>, kind: Kind) -> Option<NonNull<Node>> {
        let second = self.behind(before, kind)?;
        // SAFETY: `before` is in the chain, from which only the caller takes nodes out, so it is alive.
        let link = unsafe { &before.as_ref().next };
        let mut third = Self::next_of(second);
        if third.is_null() {
            // Ordering: published by the exchange: a producer that finds `before` as predecessor
            // writes the link after this.
            link.store(ptr::null_mut(), Ordering::Relaxed);
            // Ordering: as in `replace_head`.
            let moved = self.tail.compare_exchange(
                second.as_ptr(),
                before.as_ptr(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            if moved.is_ok() {
                return Some(second);
            }
            third = Self::await_next(second).unwrap_or(second.as_ptr());
        }
        // Ordering: as in `replace_head`; no producer has `before` as predecessor.
        link.store(third, Ordering::Relaxed);
        (third != second.as_ptr()).then_some(second)
    }

    /// The node behind `before`, if it can be seen and is of that kind. Only the holder calls this, and `before` is in
    /// the chain.
    pub(crate) fn behind(&self, before: NonNull<Node>, kind: Kind) -> Option<NonNull<Node>> {
        self.next(before).filter(|(_, found)| *found == kind).map(|(node, _)| node)
    }

    /// The node behind `before`, if it can be seen. `before` is in the chain. The caller is the holder, or no other
    /// thread takes out nodes behind `before`.
    pub(crate) fn next(&self, before: NonNull<Node>) -> Option<(NonNull<Node>, Kind)> {
        let node = NonNull::new(Self::next_of(before))?;
        // SAFETY: the node is in the chain behind `before`, where no other thread takes nodes out, so it is alive.
        Some((node, unsafe { node.as_ref() }.kind))
    }
}
