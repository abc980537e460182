//! The behaviors that stand in the line of a lane that stands still, for whoever looks for deadlocks.
//!
//! A behavior that stands in a line lacks that lane, and so has not begun. While the lane stands still it
//! does not begin; it keeps its lanes, and those that it has stand still with it. So whoever has the
//! right to run one lane, and does not run it, may walk the lines of all lanes that stand still by
//! it: nobody else takes a node out of those.

use crate::color::Color;
use crate::lane::LanePtr;
use crate::lane::behavior::{self, Claim, Header};
use crate::lane::readers::admit;
use crate::queue::{Kind, Node};
use crate::sync::Ordering;
use crate::task::Named;
use std::panic::Location;
use std::ptr::NonNull;

/// A behavior, kept.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Behavior(NonNull<Header>);

/// What a behavior wants of one lane. It keeps the lane.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) lane: LanePtr,
    pub(crate) color: Color,
    /// Together with other readers.
    pub(crate) is_shared: bool,
    /// It has the lane, until it has run.
    pub(crate) has: bool,
}

impl Behavior {
    /// # Safety
    ///
    /// The behavior is alive.
    pub(crate) unsafe fn retain(behavior: NonNull<Header>) -> Self {
        // SAFETY: by contract.
        unsafe { behavior.as_ref() }.retain();
        Self(behavior)
    }

    fn header(&self) -> &Header {
        // SAFETY: this reference.
        unsafe { self.0.as_ref() }
    }

    /// Which one it is.
    pub(crate) fn address(&self) -> NonNull<Header> {
        self.0
    }

    /// Where it was made.
    pub(crate) fn site(&self) -> &'static Location<'static> {
        self.header().site
    }

    /// The task that made it.
    pub(crate) fn maker(&self) -> Option<Named> {
        self.header().maker
    }

    pub(crate) fn wants(&self) -> impl Iterator<Item = Wanted> {
        // SAFETY: this reference keeps it.
        let claims = unsafe { behavior::claims(self.0) };
        claims.iter().map(|claim| Wanted {
            lane: claim.want.lane,
            // SAFETY: the behavior keeps it.
            color: unsafe { claim.want.lane.get() }.color(),
            is_shared: !claim.want.is_exclusive(),
            // Ordering: pairs with the Release of the thread that got the lane for it: what that one has seen
            // of the lane's tasks, and of its line, is seen from here on.
            has: claim.has.load(Ordering::Acquire),
        })
    }
}

impl Drop for Behavior {
    fn drop(&mut self) {
        // SAFETY: this reference, not used again.
        unsafe { behavior::release(self.0) };
    }
}

impl LanePtr {
    /// Shows the behaviors that stand behind the head. One that comes meanwhile may be missing.
    ///
    /// # Safety
    ///
    /// The lane is held, and stands still up to the end of this call (module documentation).
    pub(crate) unsafe fn line(self, show: impl FnMut(Behavior)) {
        // SAFETY: what stands in its line keeps the lane.
        let head = unsafe { self.get() }.chain.head();
        // SAFETY: by contract.
        unsafe { self.line_behind(head, show) };
    }

    /// As [`line`](Self::line), of a lane whose gate is held open by a behavior that stands still. Readers
    /// that need not wait are let in first. True if one that does not read keeps out those that are left;
    /// `None` if that cannot be said now.
    ///
    /// # Safety
    ///
    /// That behavior is inside up to the end of this call.
    pub(crate) unsafe fn line_beside_readers(self, show: impl FnMut(Behavior)) -> Option<bool> {
        // SAFETY: nobody but the admitter takes out what is behind the gate.
        let show = |last| unsafe { self.line_behind(last, show) };
        // SAFETY: by contract.
        unsafe { admit::survey(self, show) }
    }

    /// # Safety
    ///
    /// `node` is in the lane's chain, and nobody takes out what is behind it.
    unsafe fn line_behind(self, mut node: NonNull<Node>, mut show: impl FnMut(Behavior)) {
        // SAFETY: what is in its chain keeps the lane.
        let chain = &unsafe { self.get() }.chain;
        while let Some((next, kind)) = chain.next(node) {
            // SAFETY: in the chain, and so alive.
            if let Some(behavior) = unsafe { behavior_of(next, kind) } {
                // SAFETY: its claim is in the chain, and has a reference.
                show(unsafe { Behavior::retain(behavior) });
            }
            node = next;
        }
    }
}

/// The behavior whose node this is, if it is one's.
///
/// # Safety
///
/// `node` is of that kind, and in a chain.
unsafe fn behavior_of(node: NonNull<Node>, kind: Kind) -> Option<NonNull<Header>> {
    let is_claim = match kind {
        Kind::Claim => true,
        // SAFETY: of that kind.
        Kind::Read => unsafe { admit::is_claim(node) },
        _ => false,
    };
    // SAFETY: it begins a claim, which its behavior keeps while it is in a chain.
    is_claim.then(|| unsafe { node.cast::<Claim>().as_ref() }.behavior)
}
