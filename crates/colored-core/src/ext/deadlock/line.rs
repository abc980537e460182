//! The behaviors that wait in the line of a lane, and the lanes that they want.
//!
//! The search for deadlocks asks which behaviors are in the line of a blocked lane.
//!
//! A behavior that is queued on a lane lacks that lane, and so has not begun. While that lane is blocked the behavior
//! does not begin. It keeps the lanes that it has, and these are blocked with it. So a thread that has the right to run
//! one lane, and does not run it, may walk the lines of all lanes that are blocked by it: no other thread takes a node
//! out of them.

use crate::kernel::chain::{Kind, Node, Tail};
use crate::kernel::color::Color;
use crate::kernel::lane::behavior::{Claim, Header};
use crate::kernel::lane::{BehaviorRef, LanePtr, readers};
use crate::sync::Ordering;
use std::ptr::NonNull;

/// A behavior's request for one lane. It keeps the lane.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) lane: LanePtr,
    pub(crate) color: Color,
    /// The behavior wants it together with other readers.
    pub(crate) is_shared: bool,
    /// The behavior has the lane, until it has run.
    pub(crate) has: bool,
}

impl BehaviorRef {
    pub(in crate::ext) fn wants(&self) -> impl Iterator<Item = Wanted> {
        self.claims().iter().map(|claim| Wanted {
            lane: claim.want.lane(),
            color: claim.lane().color(),
            is_shared: !claim.want.is_exclusive(),
            // Ordering: pairs with the Release of the thread that got the lane for the behavior: all that it has seen
            // of the lane's tasks, and of its line, is visible from here on.
            has: claim.has.load(Ordering::Acquire),
        })
    }
}

impl LanePtr {
    /// Shows the behaviors behind the head. One that comes meanwhile may be missing.
    ///
    /// # Safety
    ///
    /// The lane is held, and stays blocked (module documentation) up to the end of this call.
    pub(in crate::ext) unsafe fn line(self, show: impl FnMut(BehaviorRef)) {
        // SAFETY: the caller promises that the lane is held: so its chain has nodes, which keep it.
        let chain = &unsafe { self.get() }.chain;
        let second = chain.next(chain.head());
        // SAFETY: the node is in the chain, and the caller promises that the lane stays blocked, so no thread takes
        // nodes out.
        unsafe { self.line_from(second, show) };
    }

    /// As [`line`](Self::line), of a lane that a blocked behavior reads. True if something waits there, and so keeps readers
    /// out; `None` if that cannot be said now, because a producer is half done.
    ///
    /// # Safety
    ///
    /// That behavior is inside up to the end of this call.
    pub(in crate::ext) unsafe fn line_beside_readers(
        self,
        show: impl FnMut(BehaviorRef),
    ) -> Option<bool> {
        // SAFETY: the caller promises that the behavior is inside, and so keeps the lane, up to the end of this call.
        let lane = unsafe { self.get() };
        if let Tail::Idle | Tail::Readers(_) = lane.chain.tail() {
            return Some(false);
        }
        if !lane.readers.has_head() {
            return None;
        }
        let head = lane.chain.head();
        // SAFETY: the head is in the chain, and no thread takes nodes out while the behavior is inside.
        let kind = unsafe { head.as_ref() }.kind;
        // SAFETY: as above.
        unsafe { self.line_from(Some((head, kind)), show) };
        Some(true)
    }

    /// # Safety
    ///
    /// The lane is alive. The node is in its chain, and of that kind, and no other thread takes out nodes from there on.
    unsafe fn line_from(
        self,
        mut next: Option<(NonNull<Node>, Kind)>,
        mut show: impl FnMut(BehaviorRef),
    ) {
        // SAFETY: the caller promises that the lane is alive.
        let chain = &unsafe { self.get() }.chain;
        while let Some((node, kind)) = next {
            // SAFETY: the node is in the chain with this kind, and the caller promises that no thread takes it out.
            if let Some(behavior) = unsafe { behavior_of(node, kind) } {
                // SAFETY: its claim is in the chain, and has a reference.
                show(unsafe { BehaviorRef::retain(behavior) });
            }
            next = chain.next(node);
        }
    }
}

/// The behavior to which this node belongs, if it belongs to one.
///
/// # Safety
///
/// `node` is of that kind, and in a chain.
unsafe fn behavior_of(node: NonNull<Node>, kind: Kind) -> Option<NonNull<Header>> {
    let is_claim = match kind {
        Kind::Claim => true,
        // SAFETY: the node is of `Kind::Read`, and alive, since the caller promises that it is in a chain.
        Kind::Read => unsafe { readers::is_claim(node) },
        _ => false,
    };
    // SAFETY: it begins a claim, which its behavior keeps while it is in a chain.
    is_claim.then(|| unsafe { node.cast::<Claim>().as_ref() }.behavior)
}
