//! A behavior as the recorder of waits (`sched/waits.rs`) sees it: which lanes it wants, and has; and who
//! tells that one.

use super::claim::{self, Claim, Header};
use super::missing::Taken;
use super::want::Want;
use super::{Dispatch, Lane, LanePtr, LaneRef};
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

    /// Whether all that it wants is of that scheduler. Else nobody records it: each scheduler has records of
    /// its own, and what is in those of one must begin under the lock of that one.
    pub(crate) fn is_all_of<D: Dispatch + ?Sized>(&self, scheduler: &D) -> bool {
        // SAFETY: the behavior keeps its lanes.
        self.wants().all(|want| unsafe { want.lane.get() }.is_of(scheduler))
    }

    /// Whether it has the lane that it wants at that place.
    pub(crate) fn has(&self, place: usize) -> bool {
        // Ordering: pairs with the Release of who got the lane for it: what that one has seen of the
        // lane's tasks is seen from here on.
        self.claims()[place].has.load(Ordering::Acquire)
    }

    /// Shows who stands in the lines of the lanes that it has for itself alone; false if somebody may be
    /// missing.
    ///
    /// # Safety
    ///
    /// It does not begin up to the end of this call, and waits are recorded.
    pub(crate) unsafe fn survey(&self, mut show: impl FnMut(Self)) -> bool {
        let mut is_all = true;
        for (place, claim) in self.claims().iter().enumerate() {
            if claim.want.is_exclusive() && self.has(place) {
                // SAFETY: the behavior keeps it.
                let lane = unsafe { claim.want.lane.get() };
                // SAFETY: the behavior has it, and gives it back after it has begun.
                is_all &= unsafe { lane.survey(&mut show) };
            }
        }
        is_all
    }

    /// The lanes whose gates it holds open.
    pub(crate) fn gates(&self) -> impl Iterator<Item = LaneRef> {
        let claims = self.claims().iter().enumerate();
        claims.filter(|(place, claim)| !claim.want.is_exclusive() && self.has(*place)).map(
            |(_, claim)| {
                let lane = claim.want.lane;
                // SAFETY: the behavior keeps it.
                unsafe { lane.get() }.retain(1);
                // SAFETY: just counted.
                unsafe { LaneRef::from_counted(lane) }
            },
        )
    }

    /// Where it was made.
    pub(crate) fn site(&self) -> &'static Location<'static> {
        // SAFETY: by the contract of `new`.
        unsafe { self.0.as_ref() }.site
    }
}

/// Grants so many; true if nothing is missing any more. Otherwise the behavior may be gone. `got` is
/// some lane of the behavior, if there are lanes among them: if it lacks others and its wait is
/// recorded, that it has got these is.
///
/// # Safety
///
/// Each is granted once, and noted in its claim.
pub(super) unsafe fn take(behavior: NonNull<Header>, granted: usize, got: Option<LanePtr>) -> bool {
    // SAFETY: what is missing keeps the behavior.
    let missing = unsafe { &behavior.as_ref().missing };
    // SAFETY: the behavior keeps its lanes.
    let mut unreported: Option<&Lane> = got.map(|lane| unsafe { lane.get() });
    // Also one that is not known yet: nobody may come who makes it so.
    if let Some(lane) = unreported.filter(|lane| lane.port.is_watched())
        && missing.is_beside(granted)
        // SAFETY: as above, and it does not begin meanwhile.
        && unsafe { Known::new(behavior) }.is_all_of(&*lane.port)
    {
        unreported = None;
        // SAFETY: what is missing keeps the behavior, and it does not begin meanwhile.
        unsafe { lane.port.has_got(behavior) };
    }
    loop {
        match missing.take(granted, unreported.is_none()) {
            Taken::Last => return true,
            Taken::NotYet => return false,
            Taken::Unreported => {
                if let Some(lane) = unreported.take() {
                    // SAFETY: as above.
                    unsafe { lane.port.has_got(behavior) };
                }
            }
        }
    }
}

/// Says that a behavior is about to begin, or will not, if its wait is recorded. Nobody records it
/// any more.
///
/// # Safety
///
/// It has all lanes, and the caller keeps it.
pub(crate) unsafe fn begins(behavior: NonNull<Header>) {
    // SAFETY: the caller keeps it.
    if unsafe { behavior.as_ref() }.missing.is_known() {
        // SAFETY: as above.
        let first = unsafe { claim::claims(behavior) }.first().expect("a behavior wants something");
        // SAFETY: the behavior keeps its lanes.
        unsafe { first.want.lane.get() }.port.begins(behavior);
    }
}
