//! A behavior as the recorder of waits (`sched/waits.rs`) sees it: which lanes it wants, and has.

use super::claim::{self, Claim, Header};
use super::usher;
use super::want::Want;
use crate::sync::Ordering;
use std::panic::Location;
use std::ptr::NonNull;

/// A behavior that lacks lanes, or has not begun since it got the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Known(NonNull<Header>);

// SAFETY: it is alive where it is used, by the contract of `new`; and what is read is atomic, or never
// changes.
unsafe impl Send for Known {}

impl Known {
    /// # Safety
    ///
    /// The behavior is alive whenever this is used.
    pub(crate) unsafe fn new(behavior: NonNull<Header>) -> Self {
        Self(behavior)
    }

    /// It is recorded from now on: whoever gets a lane for it says so. Before this returns it may have
    /// got some, which [`has`](Self::has) then tells.
    pub(crate) fn make(self) {
        // SAFETY: by the contract of `new`.
        unsafe { self.0.as_ref() }.missing.make_known();
    }

    fn claims(&self) -> &[Claim] {
        // SAFETY: by the contract of `new`.
        unsafe { claim::claims(self.0) }
    }

    /// What it wants. Always in one order.
    pub(crate) fn wants(&self) -> impl Iterator<Item = Want> {
        self.claims().iter().map(|claim| claim.want)
    }

    /// Whether it has the lane that it wants at that place.
    pub(crate) fn has(&self, place: usize) -> bool {
        // Ordering: pairs with the Release of who got the lane for it: what that one has seen of the
        // lane's tasks is seen from here on.
        self.claims()[place].has.load(Ordering::Acquire)
    }

    /// Where it was made.
    pub(crate) fn site(&self) -> &'static Location<'static> {
        // SAFETY: by the contract of `new`.
        unsafe { self.0.as_ref() }.site
    }

    /// Has the ushers of the gates that it holds open look again, and say who is kept out by a writer.
    ///
    /// # Safety
    ///
    /// It is alive up to the end of this call.
    pub(crate) unsafe fn asks_ushers(self) {
        let shared = |claim: &&Claim| !claim.want.is_exclusive();
        for claim in self.claims().iter().filter(shared) {
            // Ordering: as in `has`.
            if claim.has.load(Ordering::Acquire) {
                // SAFETY: the behavior keeps its lanes.
                unsafe { usher::look_again(claim.want.lane) };
            }
        }
    }
}
