//! Readers that have to wait.
//!
//! A reader that finds the lane held by a writer, or finds that something waits, becomes a node of the chain like
//! any other, until the [admitter](crate::lane::readers::admit) lets it in. It then runs in a
//! [batch](crate::lane::readers::batch).

use crate::contain::contain;
use crate::lane::readers;
use crate::lane::readers::admit::{self, Admit, Vtable, Waiting};
use crate::lane::{LanePtr, LaneRef};
use crate::memory::Boxed;
use crate::queue::{Kind, Node};
use std::ptr::NonNull;
use std::task::Waker;

/// A reader that runs when its turn comes. It keeps the lane alive.
pub(crate) trait QueuedRead: Send + 'static {
    /// Whether it still wants to read, now that its turn has come. The caller holds the lane. If the answer is no, or
    /// if `closing`, its closure is dropped here.
    fn begin(&mut self, closing: bool) -> bool;
    /// As `begin`, but others read meanwhile: if it does not want to read, nothing is dropped. Calls of either method
    /// may follow; after the answer true they answer true again.
    fn begin_beside(&mut self) -> bool;
    /// Reads, beside others, on some thread. Returns the waker to wake when the lane has been left.
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

/// Schedules a reader, which is waited for, behind all that is scheduled on the lane.
pub(crate) fn post<V: QueuedRead>(lane: &LaneRef, queued: V) {
    let urgent = lane.is_lent_urgency();
    let node = ReadNode {
        waiting: Waiting::new(
            Kind::Read,
            urgent,
            &Vtable {
                begin: begin::<V>,
                begin_beside: begin_beside::<V>,
                admit: Admit::QueuedRead(read::<V>),
                free: free::<V>,
            },
        ),
        lane: lane.ptr(),
        queued,
    };
    let node = Boxed::new(node).into_raw().cast();
    // SAFETY: the node is in no chain, it is freed when it is out of one, and the queued read keeps the lane.
    unsafe { lane.ptr().push(node) };
    // SAFETY: the node may be gone, but the caller's reference keeps the lane alive.
    unsafe { admit::look_again(lane.ptr()) };
}

unsafe fn begin<V: QueuedRead>(node: NonNull<Node>, closing: bool) -> bool {
    // SAFETY: this function is in the vtable of a `ReadNode<V>`, and the node is out of its chain, so no other thread
    // uses it.
    let node = unsafe { &mut *node.cast::<ReadNode<V>>().as_ptr() };
    node.queued.begin(closing)
}

unsafe fn begin_beside<V: QueuedRead>(node: NonNull<Node>) -> bool {
    // SAFETY: this function is in the vtable of a `ReadNode<V>`, and only the caller, as the admitter, uses its
    // queued read.
    let queued = unsafe { &mut (*node.cast::<ReadNode<V>>().as_ptr()).queued };
    queued.begin_beside()
}

unsafe fn read<V: QueuedRead>(node: NonNull<Node>, cancel: bool) -> Option<Waker> {
    // SAFETY: this function is in the vtable of a `ReadNode<V>`, and the caller gives the node, which is in no chain.
    let ReadNode { lane, queued, .. } =
        unsafe { Boxed::from_raw(node.cast::<ReadNode<V>>()) }.into_inner();
    let admitted = Admitted(queued, lane);
    if cancel { None } else { admitted.run() }
}

unsafe fn free<V: QueuedRead>(node: NonNull<Node>) {
    // SAFETY: this function is in the vtable of a `ReadNode<V>`, and the caller gives the node, which is in no chain.
    let node = unsafe { Boxed::from_raw(node.cast::<ReadNode<V>>()) }.into_inner();
    // This may drop the last reference to the cell.
    contain(|| drop(node.queued));
}

/// A queued read that is counted in.
struct Admitted<V: QueuedRead>(V, LanePtr);

impl<V: QueuedRead> Admitted<V> {
    /// The lane has been left when this returns.
    fn run(mut self) -> Option<Waker> {
        self.0.run()
    }
}

impl<V: QueuedRead> Drop for Admitted<V> {
    fn drop(&mut self) {
        contain(|| self.0.cancel());
        // SAFETY: an admitter or holder has counted this reader in, and this is its one leave. The queued read, which
        // is dropped after this, keeps the lane.
        unsafe { readers::leave(self.1) };
    }
}
