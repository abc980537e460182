//! A list of nodes that begins with a dummy node, under one lock or two.
//!
//! Michael and Scott, 1996: the first node is a dummy. A consumer takes that node out, and the node of the
//! event is the dummy from then on. So the two ends touch one node together only while the queue is empty, and each end
//! can have a lock of its own.

use super::lock::Lock;
use super::{Event, Queue};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The end of the list, in place of a node.
pub(super) const NONE: u32 = u32::MAX;

/// A node, which has a cache line of its own.
#[repr(align(64))]
pub(super) struct Node {
    /// The next node in the lower half. The upper half is for [`NonBlocking`](super::NonBlocking).
    pub(super) next: AtomicU64,
    pub(super) what: AtomicU64,
}

pub(super) struct Nodes(Box<[Node]>);

impl Nodes {
    /// Nodes for so many events, and node 0, which is the dummy.
    pub(super) fn with_room(events: usize) -> Self {
        let node = |_| Node { next: AtomicU64::new(u64::from(NONE)), what: AtomicU64::new(0) };
        Self((0..=events).map(node).collect())
    }

    pub(super) fn at(&self, node: u32) -> &Node {
        &self.0[node as usize]
    }

    /// Adds an event. The caller holds the lock of this end.
    fn append(&self, last: &AtomicU32, event: &Event) {
        let node = self.at(event.node);
        // Ordering: published by the store to the node before.
        node.what.store(event.what, Ordering::Relaxed);
        node.next.store(u64::from(NONE), Ordering::Relaxed);
        // Ordering: under the lock.
        let before = last.load(Ordering::Relaxed);
        // Ordering: pairs with the load in `take`, which may have another lock.
        self.at(before).next.store(u64::from(event.node), Ordering::Release);
        // Ordering: under the lock.
        last.store(event.node, Ordering::Relaxed);
    }

    /// Takes an event. The caller holds the lock of this end.
    fn take(&self, dummy: &AtomicU32) -> Option<Event> {
        // Ordering: under the lock.
        let node = dummy.load(Ordering::Relaxed);
        // Ordering: pairs with the store in `append`.
        let next = self.at(node).next.load(Ordering::Acquire) as u32;
        if next == NONE {
            return None;
        }
        // Ordering: under the lock.
        dummy.store(next, Ordering::Relaxed);
        // Ordering: ordered by the load of `next`.
        Some(Event { what: self.at(next).what.load(Ordering::Relaxed), node })
    }
}

/// One lock for both ends: the coarse queue.
pub struct OneLock<L> {
    nodes: Nodes,
    ends: CachePadded<(L, AtomicU32, AtomicU32)>,
}

impl<L: Lock> OneLock<L> {
    /// An empty queue for at most so many events.
    #[must_use]
    pub fn with_room(events: usize) -> Self {
        Self { nodes: Nodes::with_room(events), ends: CachePadded::default() }
    }
}

impl<L: Lock> Queue<Event> for OneLock<L> {
    fn push(&self, event: Event) {
        let (lock, _, last) = &*self.ends;
        lock.with(|| self.nodes.append(last, &event));
    }

    fn pop(&self) -> Option<Event> {
        let (lock, dummy, _) = &*self.ends;
        lock.with(|| self.nodes.take(dummy))
    }
}

/// A lock for each end: the queue with a dummy head.
pub struct TwoLocks<L> {
    nodes: Nodes,
    head: CachePadded<(L, AtomicU32)>,
    tail: CachePadded<(L, AtomicU32)>,
}

impl<L: Lock> TwoLocks<L> {
    /// An empty queue for at most so many events.
    #[must_use]
    pub fn with_room(events: usize) -> Self {
        let (head, tail) = (CachePadded::default(), CachePadded::default());
        Self { nodes: Nodes::with_room(events), head, tail }
    }
}

impl<L: Lock> Queue<Event> for TwoLocks<L> {
    fn push(&self, event: Event) {
        let (lock, last) = &*self.tail;
        lock.with(|| self.nodes.append(last, &event));
    }

    fn pop(&self) -> Option<Event> {
        let (lock, dummy) = &*self.head;
        lock.with(|| self.nodes.take(dummy))
    }
}
