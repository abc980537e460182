//! The same list without locks (Michael and Scott, 1996).
//!
//! A word holds a node, and a count of the changes of the word. A thread that has slept while a node was taken out and
//! added again finds another count, and begins anew. (The middleware has reference counts for this purpose.)

use super::list::{NONE, Nodes};
use super::{Event, Queue};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU64, Ordering};

/// A list whose ends change by compare-and-swap.
pub struct NonBlocking {
    nodes: Nodes,
    head: CachePadded<AtomicU64>,
    tail: CachePadded<AtomicU64>,
}

impl NonBlocking {
    /// An empty queue for at most so many events.
    #[must_use]
    pub fn with_room(events: usize) -> Self {
        let (head, tail) = (CachePadded::default(), CachePadded::default());
        Self { nodes: Nodes::with_room(events), head, tail }
    }
}

const fn node(word: u64) -> u32 {
    word as u32
}

/// The word after `word`, with another node.
const fn changed(word: u64, node: u32) -> u64 {
    ((word >> 32).wrapping_add(1) << 32) | node as u64
}

/// Changes the word to another node, unless another thread has changed it meanwhile.
fn swing(word: &AtomicU64, from: u64, to: u32) -> bool {
    // Ordering: the algorithm assumes one order of all accesses to the words.
    word.compare_exchange(from, changed(from, to), Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

fn load(word: &AtomicU64) -> u64 {
    // Ordering: as in `swing`.
    word.load(Ordering::SeqCst)
}

impl Queue<Event> for NonBlocking {
    fn push(&self, event: Event) {
        let own = self.nodes.at(event.node);
        // Ordering: published by the exchange that links the node.
        own.what.store(event.what, Ordering::Relaxed);
        // Ordering: the node is in no queue, and the exchange below publishes the word. Its count stays.
        let free = own.next.load(Ordering::Relaxed) >> 32 << 32;
        own.next.store(free | u64::from(NONE), Ordering::Relaxed);
        loop {
            let tail = load(&self.tail);
            let last = &self.nodes.at(node(tail)).next;
            let next = load(last);
            if tail != load(&self.tail) {
                continue;
            }
            if node(next) != NONE {
                swing(&self.tail, tail, node(next));
            } else if swing(last, next, event.node) {
                swing(&self.tail, tail, event.node);
                return;
            }
        }
    }

    fn pop(&self) -> Option<Event> {
        loop {
            let (head, tail) = (load(&self.head), load(&self.tail));
            let next = node(load(&self.nodes.at(node(head)).next));
            if head != load(&self.head) {
                continue;
            }
            if next == NONE {
                return None;
            }
            if node(head) == node(tail) {
                swing(&self.tail, tail, next);
                continue;
            }
            // Ordering: ordered by the load of `next`. It is read before the exchange: afterwards the node may be taken
            // out and used again.
            let what = self.nodes.at(next).what.load(Ordering::Relaxed);
            if swing(&self.head, head, next) {
                return Some(Event { what, node: node(head) });
            }
        }
    }
}
