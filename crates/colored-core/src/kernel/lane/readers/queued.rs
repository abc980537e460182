//! Readers that have to wait.
//!
//! A reader that finds the lane held by a writer, or finds that something waits, becomes a node of the chain like
//! any other, until the holder [admits](crate::kernel::lane::readers::admit) it. It then runs in a [batch].

use crate::hooks::Act;
use crate::kernel::contain::contain;
use crate::kernel::lane::base::LanePtr;
use crate::kernel::lane::readers::admit::{Reader, Waiting};
use crate::kernel::lane::readers::{self, batch};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::memory::Boxed;
use crate::kernel::queue::{Kind, Node};
use std::ptr::NonNull;
use std::task::Waker;

/// A reader that runs when its turn comes. It keeps the lane alive.
pub(crate) trait QueuedRead: Send + 'static {
    /// Its turn has come. The caller holds the lane, or has just made the reader. If no future waits any more, or if
    /// `closing`, its closure is dropped here. Returns whether there is something to read. May be called again.
    fn begin(&mut self, closing: bool) -> bool;
    /// Reads, beside others, on some thread, unless its closure has been dropped. Returns the waker to wake when the lane
    /// has been left.
    fn run(&mut self) -> Option<Waker>;
    /// The runtime has shut down after `begin`. Does nothing after `run`.
    fn cancel(&mut self);
}

#[repr(C)]
struct ReadNode<V> {
    waiting: Waiting,
    lane: LanePtr,
    queued: V,
}

/// Schedules a reader, which is waited for, behind all that is scheduled on the lane. If nothing is any more, it reads at
/// once, on this thread.
pub(crate) fn post<V: QueuedRead>(lane: &LaneRef, queued: V) {
    let urgent = lane.is_lent_urgency();
    let reader = &Reader::Queued { begin: begin::<V>, read: read::<V> };
    let waiting = Waiting::new(Kind::Read, urgent, reader);
    let node = ReadNode { waiting, lane: lane.ptr(), queued };
    let node = Boxed::new(node).into_raw().cast();
    let act = Act::push(lane);
    if urgent {
        lane.raise();
    }
    // SAFETY: the node is new, it is freed when it is out of its chain, and the caller's reference keeps the lane.
    let is_inside = unsafe { lane.enter_or_push(node) };
    act.end();
    if is_inside {
        // SAFETY: the node begins a `ReadNode<V>`, is in no chain, and was made here.
        unsafe { begin::<V>(node, false) };
        // SAFETY: `read` takes such a node, which is in no chain, counted in, and given away here.
        unsafe { batch::AdmittedRead::new(node, read::<V>) }.read();
    }
}

unsafe fn begin<V: QueuedRead>(node: NonNull<Node>, closing: bool) -> bool {
    // SAFETY: this function is in the `Reader` of a `ReadNode<V>`, and only the caller uses its queued read: the holder of
    // the lane, or the thread that has made it.
    let queued = unsafe { &mut (*node.cast::<ReadNode<V>>().as_ptr()).queued };
    queued.begin(closing)
}

unsafe fn read<V: QueuedRead>(node: NonNull<Node>, cancel: bool) -> Option<Waker> {
    // SAFETY: this function is in the `Reader` of a `ReadNode<V>`, and the caller gives the node, which is in no chain.
    let ReadNode { lane, queued, .. } =
        unsafe { Boxed::from_raw(node.cast::<ReadNode<V>>()) }.into_inner();
    let mut admitted = InsideGuard(queued, lane);
    if cancel { None } else { admitted.0.run() }
}

/// A queued read that is counted in, and leaves when this is dropped.
struct InsideGuard<V: QueuedRead>(V, LanePtr);

impl<V: QueuedRead> Drop for InsideGuard<V> {
    fn drop(&mut self) {
        contain(|| self.0.cancel());
        // SAFETY: the reader was counted in, and this is its one leave. The queued read, which is dropped after this, keeps
        // the lane.
        unsafe { readers::leave(self.1) };
    }
}
