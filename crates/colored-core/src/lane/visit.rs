//! Readers that had to wait, and are let in.
//!
//! A reader that finds the lane held by somebody who does not read, or somebody waiting, is a node
//! of the chain like any other. When its turn comes, the holder puts the lane's own node in its
//! place, takes the readers right behind it out too, and opens the [`gate`] for all of them.
//!
//! It does not run them one after another: each is sent to a spare lane of a fresh color, where it
//! is a callback like any other, and idle workers take such lanes.

use super::current::Hold;
use super::{LanePtr, LaneRef, ReadyLane, callback, gate};
use crate::contain::contain;
use crate::memory;
use crate::queue::{Kind, Node};
use crate::sync::Ordering;
use std::alloc::Layout;
use std::ptr::NonNull;

/// How many readers that wait go in at once. As many as a slice has polls.
const GROUP: usize = 64;

/// What reads when its turn comes. It keeps the lane alive.
pub(crate) trait Visit: Send + 'static {
    /// Whether it still wants to, now that its turn has come. What it would have needed is dropped
    /// here otherwise, and if `closing`: the caller holds the lane.
    fn begin(&mut self, closing: bool) -> bool;
    /// Reads, beside others, on some thread.
    fn run(&mut self);
    /// The runtime has shut down after `begin`. Does nothing after `run`.
    fn cancel(&mut self);
}

/// What a waiting reader begins with, of either sort.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Waiting {
    node: Node,
    vtable: &'static Vtable,
}

/// What the holder does with a waiting reader.
#[derive(Debug)]
pub(super) struct Vtable {
    /// As [`Visit::begin`]. The holder calls it, once, when the node is out of the chain.
    pub(super) begin: unsafe fn(NonNull<Node>, bool) -> bool,
    /// It is counted in: sees that it runs, and leaves. Takes the node.
    pub(super) admit: unsafe fn(NonNull<Node>),
    /// It did not want in. Takes the node.
    pub(super) free: unsafe fn(NonNull<Node>),
}

impl Waiting {
    pub(super) fn new(kind: Kind, vtable: &'static Vtable) -> Self {
        Self { node: Node::new(kind, 0), vtable }
    }
}

/// # Safety
///
/// `node` begins a [`Waiting`] that is alive.
unsafe fn vtable(node: NonNull<Node>) -> &'static Vtable {
    // SAFETY: by contract.
    unsafe { node.cast::<Waiting>().as_ref() }.vtable
}

#[repr(C)]
struct Visitor<V> {
    waiting: Waiting,
    lane: LanePtr,
    visit: V,
}

/// Schedules a reader behind all that is scheduled on the lane. `guard` is dropped when it has its
/// place, before anybody is told.
pub(crate) fn post_under<V: Visit, G>(lane: &LaneRef, visit: V, guard: G) {
    let visitor = Visitor {
        waiting: Waiting::new(
            Kind::Read,
            &Vtable { begin: begin::<V>, admit: admit::<V>, free: free::<V> },
        ),
        lane: lane.ptr(),
        visit,
    };
    let place = memory::allocate(Layout::new::<Visitor<V>>()).cast::<Visitor<V>>();
    // SAFETY: the place is new, and of the visitor's layout.
    unsafe { place.write(visitor) };
    // SAFETY: in no chain, freed when it is out of it, and the visit keeps the lane.
    unsafe { lane.ptr().push_under(place.cast(), guard) };
}

unsafe fn begin<V: Visit>(node: NonNull<Node>, closing: bool) -> bool {
    // SAFETY: a visitor of this type, which is nobody else's since it is out of its chain.
    let visitor = unsafe { &mut *node.cast::<Visitor<V>>().as_ptr() };
    visitor.visit.begin(closing)
}

/// Takes the visit out, and frees the node.
///
/// # Safety
///
/// `node` begins a visitor of this type, is in no chain, and is not used again.
unsafe fn take<V>(node: NonNull<Node>) -> (V, LanePtr) {
    let place = node.cast::<Visitor<V>>();
    // SAFETY: by contract.
    let visitor = unsafe { place.read() };
    // SAFETY: allocated with this layout, and moved out of.
    unsafe { memory::release(place.cast(), Layout::new::<Visitor<V>>()) };
    (visitor.visit, visitor.lane)
}

unsafe fn admit<V: Visit>(node: NonNull<Node>) {
    // SAFETY: the caller gives the node.
    let (visit, lane) = unsafe { take::<V>(node) };
    let admitted = Admitted(visit, lane);
    // SAFETY: the visit keeps the lane alive.
    let spare = unsafe { lane.get() }.spare();
    callback::post(&spare, move || admitted.run());
}

unsafe fn free<V: Visit>(node: NonNull<Node>) {
    // SAFETY: the caller gives the node.
    let (visit, _lane) = unsafe { take::<V>(node) };
    // It may have been the last to keep the cell.
    contain(|| drop(visit));
}

/// A visit that is counted in.
struct Admitted<V: Visit>(V, LanePtr);

// SAFETY: a pointer to a lane may go anywhere, and the visit is `Send`.
unsafe impl<V: Visit> Send for Admitted<V> {}

impl<V: Visit> Admitted<V> {
    fn run(mut self) {
        self.0.run();
    }
}

impl<V: Visit> Drop for Admitted<V> {
    fn drop(&mut self) {
        contain(|| self.0.cancel());
        // SAFETY: counted in by `let_in`; the visit, which is dropped after this, keeps the lane.
        unsafe { gate::leave(self.1) };
    }
}

/// What became of a lane with a reader at its head.
pub(super) enum LetIn {
    /// The gate is open; the lane is nobody's.
    Open,
    /// Nobody wanted in any more: the lane's own node is at the head, has had its turn, and owns a
    /// reference.
    Nobody(ReadyLane),
    /// A producer behind the reader is half done.
    Stalled(ReadyLane),
}

/// Opens the gate for the reader at the head, and for those right behind it.
///
/// # Safety
///
/// A node of [`Kind::Read`] is at the head of the lane, which `hold` is of.
#[cold]
pub(super) unsafe fn let_in(ready: ReadyLane, hold: &Hold, closing: bool) -> LetIn {
    let ptr = ready.0;
    // SAFETY: the right to run keeps the lane alive.
    let lane = unsafe { ptr.get() };
    let first = lane.chain.head();
    // SAFETY: the lane's own node is in no chain while a slice runs, and was reset when it left.
    if !unsafe { lane.chain.replace_head(NonNull::from(&lane.inline)) } {
        return LetIn::Stalled(ready);
    }
    let mut group = [None; GROUP];
    let (mut wanted, mut taken) = (0_u32, 1);
    let mut next = Some(first);
    while let Some(node) = next {
        // SAFETY: a reader, out of the chain.
        let vtable = unsafe { vtable(node) };
        // SAFETY: the lane is held.
        if unsafe { (vtable.begin)(node, closing) } {
            group[wanted as usize] = Some(node);
            wanted += 1;
        } else {
            // SAFETY: it did not want in.
            unsafe { (vtable.free)(node) };
        }
        next = if taken < GROUP { lane.chain.take_second(Kind::Read) } else { None };
        taken += 1;
    }
    if wanted == 0 {
        // Who keeps the lane may have gone with those.
        hold.owe(1);
        return LetIn::Nobody(ready);
    }
    // SAFETY: the hold is of this lane, which those in the group keep alive.
    unsafe { ptr.settle(hold) };
    hold.has_ended();
    let _shared = ready.into_raw();
    // Ordering: as in `gate::try_enter`. From here on the lane may be somebody's any time; those of
    // the group who have not been admitted yet keep it alive.
    lane.readers.store(wanted, Ordering::Release);
    for node in group.into_iter().flatten() {
        // SAFETY: a reader, out of the chain.
        let vtable = unsafe { vtable(node) };
        // SAFETY: counted in just now.
        unsafe { (vtable.admit)(node) };
    }
    LetIn::Open
}
