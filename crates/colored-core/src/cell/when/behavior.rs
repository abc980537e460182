//! [`Behavior`]: a closure that waits for its lanes, and the future's half of it.

use crate::cell::CallError;
use crate::cell::InUse;
use crate::cell::set::Set;
use crate::cell::slot::{Outcome, Slot};
use crate::contain::contain;
use crate::lane::LanePtr;
use crate::lane::claim::{self, Claim, Header};
use crate::lane::known;
use crate::lane::lend::lends_urgency;
use crate::lane::want::Want;
use crate::memory;
use crate::sched::waits;
use std::alloc::Layout;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;
use std::task::Waker;

/// What a `when` does with a color, for the text of a [`Deadlock`](crate::task::Deadlock).
pub(super) const HOW: &str = "wants, by `when`,";

/// Has a fresh behavior stand in the lines of its lanes; true if it has run. `guard` as for
/// [`claim::enqueue`].
pub(super) fn schedule<F, R, G>(fresh: Scheduled<F, R>, guard: G) -> (Scheduled<F, R>, bool) {
    // SAFETY: fresh; this thread has the future's reference, and the behavior's set keeps the lanes.
    let ran = unsafe { claim::enqueue(fresh.behavior, guard) };
    (fresh, ran)
}

/// The future's half of a behavior.
pub(super) struct Scheduled<F, R> {
    pub(super) behavior: NonNull<Header>,
    slot: NonNull<Slot<F, Result<R, InUse>>>,
}

// SAFETY: the slot is a lock around what is `Send`, and all else is made to be shared.
unsafe impl<F: Send, R: Send> Send for Scheduled<F, R> {}
// SAFETY: as for `Send`.
unsafe impl<F: Send, R: Send> Sync for Scheduled<F, R> {}

impl<F, R> Scheduled<F, R> {
    pub(super) fn slot(&self) -> &Slot<F, Result<R, InUse>> {
        // SAFETY: the future's reference keeps the behavior.
        unsafe { self.slot.as_ref() }
    }

    /// # Errors
    ///
    /// If the wait would never end.
    pub(super) fn record_again(&self, site: &'static Location<'static>) -> Result<(), CallError> {
        let mut is_new = false;
        let recorded = self.slot().record_again(|before| {
            is_new = before.is_none();
            // SAFETY: it is kept by the future's reference, and does not begin meanwhile.
            unsafe { waits::queued_all(before, self.behavior, HOW, site) }
        });
        if is_new {
            // SAFETY: as above.
            unsafe { waits::is_entered(self.behavior) };
        }
        recorded.map_err(CallError::Deadlock)
    }
}

impl<F, R> Drop for Scheduled<F, R> {
    fn drop(&mut self) {
        self.slot().abandon();
        // SAFETY: the future's reference.
        unsafe { claim::release(self.behavior) };
    }
}

/// A closure that waits for its lanes, in one allocation.
#[repr(C)]
pub(super) struct Behavior<S: Set<F, R>, F, R> {
    header: Header,
    claims: S::Claims,
    /// How many of them are wanted.
    lanes: usize,
    set: S,
    slot: Slot<F, Result<R, InUse>>,
}

impl<S, F, R> Behavior<S, F, R>
where
    S: Set<F, R> + Send + 'static,
    F: Send + 'static,
    R: Send + 'static,
{
    pub(super) fn allocate(
        set: S,
        slot: Slot<F, Result<R, InUse>>,
        wants: &[Want],
        color: Option<LanePtr>,
        site: &'static Location<'static>,
    ) -> Scheduled<F, R> {
        let vtable = &claim::Vtable {
            run: Self::run_erased,
            claims: Self::claims_erased,
            free: Self::free_erased,
        };
        let behavior = Self {
            header: Header::new(wants.len(), color, vtable, site),
            claims: S::claims(wants),
            lanes: wants.len(),
            set,
            slot,
        };
        let place = memory::allocate(Layout::new::<Self>()).cast::<Self>();
        // SAFETY: the place is new, and of the behavior's layout.
        unsafe { place.write(behavior) };
        // SAFETY: nobody else knows it yet.
        let behavior = unsafe { &mut *place.as_ptr() };
        let lends = lends_urgency();
        for claim in behavior.claims.as_mut() {
            // SAFETY: the set keeps the lanes of those that want one.
            unsafe { claim.belong_to(place.cast(), lends) };
        }
        // SAFETY: a field of what has just been made.
        let slot = unsafe { &raw mut (*place.as_ptr()).slot };
        Scheduled { behavior: place.cast(), slot: NonNull::new(slot).expect("a field") }
    }

    /// See [`claim::Vtable::run`].
    unsafe fn run_erased(header: NonNull<Header>, cancel: bool) -> Option<Waker> {
        // SAFETY: the vtable belongs to a behavior of this type, which the caller keeps.
        let behavior = unsafe { header.cast::<Self>().as_ref() };
        let f = behavior.slot.begin();
        // SAFETY: the caller has all lanes, and keeps it.
        unsafe { known::begins(header) };
        let f = f?;
        if cancel {
            contain(|| drop(f));
            return behavior.slot.finish(Outcome::Cancelled);
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the caller has all lanes.
            unsafe { behavior.set.run(|_| false, f) }
        }));
        behavior.slot.finish(result.into())
    }

    /// See [`claim::Vtable::claims`].
    unsafe fn claims_erased(behavior: NonNull<Header>) -> *const [Claim] {
        // SAFETY: as in `run_erased`.
        let behavior = unsafe { behavior.cast::<Self>().as_ref() };
        &raw const behavior.claims.as_ref()[..behavior.lanes]
    }

    /// See [`claim::Vtable::free`].
    unsafe fn free_erased(behavior: NonNull<Header>) {
        let place = behavior.cast::<Self>();
        // SAFETY: the last reference is gone.
        let Self { set, slot, .. } = unsafe { place.read() };
        // It may keep the last clones of its cells.
        contain(|| drop((set, slot)));
        // SAFETY: allocated with this layout.
        unsafe { memory::release(place.cast(), Layout::new::<Self>()) };
    }
}
