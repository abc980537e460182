//! Closures that read, and have to wait for it.
//!
//! One that finds the lane held by somebody who does not read, or somebody waiting, is a node of the
//! chain like any other, until an [`usher`] lets it in. It is not run there, but where a
//! [`party`](super::party) sends it.

use super::usher::{self, Admit, Vtable, Waiting};
use super::{LanePtr, LaneRef, gate};
use crate::contain::contain;
use crate::memory;
use crate::queue::{Kind, Node};
use std::alloc::Layout;
use std::ptr::NonNull;
use std::task::Waker;

/// What reads when its turn comes. It keeps the lane alive.
pub(crate) trait Visit: Send + 'static {
    /// Whether it still wants to, now that its turn has come. What it would have needed is dropped
    /// here otherwise, and if `closing`: the caller holds the lane.
    fn begin(&mut self, closing: bool) -> bool;
    /// As `begin`, but others read meanwhile: if it does not want to, nothing is dropped. May be
    /// followed by any of both, which repeat the answer if it was true.
    fn begin_beside(&mut self) -> bool;
    /// Reads, beside others, on some thread. Whom to wake when the lane has been left.
    fn run(&mut self) -> Option<Waker>;
    /// The runtime has shut down after `begin`. Does nothing after `run`.
    fn cancel(&mut self);
}

#[repr(C)]
struct Visitor<V> {
    waiting: Waiting,
    lane: LanePtr,
    visit: V,
}

/// Schedules a reader, who is waited for, behind all that is scheduled on the lane.
pub(crate) fn post<V: Visit>(lane: &LaneRef, visit: V) {
    // SAFETY: the caller's reference.
    let urgent = unsafe { lane.ptr().is_lent_urgency() };
    let visitor = Visitor {
        waiting: Waiting::new(
            Kind::Read,
            urgent,
            &Vtable {
                begin: begin::<V>,
                begin_beside: begin_beside::<V>,
                admit: Admit::Visit(read::<V>),
                free: free::<V>,
            },
        ),
        lane: lane.ptr(),
        visit,
    };
    let place = memory::allocate(Layout::new::<Visitor<V>>()).cast::<Visitor<V>>();
    // SAFETY: the place is new, and of the visitor's layout.
    unsafe { place.write(visitor) };
    // SAFETY: in no chain, freed when it is out of it, and the visit keeps the lane.
    unsafe { lane.ptr().push(place.cast()) };
    // SAFETY: the caller's reference.
    unsafe { usher::look_again(lane.ptr()) };
}

unsafe fn begin<V: Visit>(node: NonNull<Node>, closing: bool) -> bool {
    // SAFETY: a visitor of this type, which is nobody else's since it is out of its chain.
    let visitor = unsafe { &mut *node.cast::<Visitor<V>>().as_ptr() };
    visitor.visit.begin(closing)
}

unsafe fn begin_beside<V: Visit>(node: NonNull<Node>) -> bool {
    // SAFETY: a visitor of this type, and the caller is the only one who touches the visit.
    let visit = unsafe { &mut (*node.cast::<Visitor<V>>().as_ptr()).visit };
    visit.begin_beside()
}

/// Takes the visit out, and frees the node.
///
/// # Safety
///
/// `node` begins a visitor of this type, is in no chain, and is not used again.
unsafe fn take<V>(node: NonNull<Node>) -> Visitor<V> {
    let place = node.cast::<Visitor<V>>();
    // SAFETY: by contract.
    let visitor = unsafe { place.read() };
    // SAFETY: allocated with this layout, and moved out of.
    unsafe { memory::release(place.cast(), Layout::new::<Visitor<V>>()) };
    visitor
}

unsafe fn read<V: Visit>(node: NonNull<Node>, cancel: bool) -> Option<Waker> {
    // SAFETY: the caller gives the node.
    let Visitor { lane, visit, .. } = unsafe { take::<V>(node) };
    let admitted = Admitted(visit, lane);
    if cancel { None } else { admitted.run() }
}

unsafe fn free<V: Visit>(node: NonNull<Node>) {
    // SAFETY: the caller gives the node.
    let visitor = unsafe { take::<V>(node) };
    // It may have been the last to keep the cell.
    contain(|| drop(visitor.visit));
}

/// A visit that is counted in.
struct Admitted<V: Visit>(V, LanePtr);

impl<V: Visit> Admitted<V> {
    /// Has left the lane when it returns.
    fn run(mut self) -> Option<Waker> {
        self.0.run()
    }
}

impl<V: Visit> Drop for Admitted<V> {
    fn drop(&mut self) {
        contain(|| self.0.cancel());
        // SAFETY: counted in by `let_in`; the visit, which is dropped after this, keeps the lane.
        unsafe { gate::leave(self.1) };
    }
}
