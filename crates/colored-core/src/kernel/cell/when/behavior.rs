//! [`Behavior`]: a closure that waits for its lanes, and the future's half of it.

use crate::kernel::cell::CallError;
use crate::kernel::cell::InUse;
use crate::kernel::cell::set::Set;
use crate::kernel::cell::slot::{Outcome, Slot};
use crate::kernel::contain::contain;
use crate::kernel::lane::LanePtr;
use crate::kernel::lane::behavior::request::Request;
use crate::kernel::lane::behavior::{self, BehaviorRef, Claim, Header};
use crate::kernel::lane::priority::inherit::lends_urgency;
use crate::kernel::memory::Boxed;
use crate::kernel::task::{Cause, How};
use crate::kernel::wait::{Target, WaitKind, WaitSlot};
use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

/// The relation of a `when` to a color, for the text of a [`Deadlock`](crate::kernel::task::Deadlock).
pub(super) const HOW: &How = &How { text: "wants, by `when`,", is_shared: false };

/// Puts a fresh behavior into the lines of its lanes; true if it has run.
pub(super) fn schedule<F, R>(
    mut fresh: Scheduled<F, R>,
    site: &'static Location<'static>,
) -> (Scheduled<F, R>, bool) {
    // SAFETY: the behavior is fresh, `allocate` gave it its claims, and its set keeps the lanes.
    let ran = unsafe { behavior::enqueue(&fresh.behavior) };
    if !ran {
        fresh.record_wait(site);
    }
    (fresh, ran)
}

/// The future's half of a behavior.
pub(super) struct Scheduled<F, R> {
    wait: WaitSlot,
    pub(super) behavior: BehaviorRef,
    slot: NonNull<Slot<F, Result<R, InUse>>>,
}

// SAFETY: the slot is a lock around values that are `Send`, and all other parts are made to be
// shared.
unsafe impl<F: Send, R: Send> Send for Scheduled<F, R> {}
// SAFETY: a shared reference reaches only the slot, which is a lock around values that are `Send`.
unsafe impl<F: Send, R: Send> Sync for Scheduled<F, R> {}

impl<F, R> Scheduled<F, R> {
    pub(super) fn slot(&self) -> &Slot<F, Result<R, InUse>> {
        // SAFETY: the future's reference keeps the behavior.
        unsafe { self.slot.as_ref() }
    }

    /// Returns the outcome, once, or stores the waker to be woken when it is there.
    ///
    /// # Errors
    ///
    /// If the wait would never end.
    pub(super) fn poll(
        &mut self,
        waker: &Waker,
        site: &'static Location<'static>,
    ) -> Result<Option<Outcome<Result<R, InUse>>>, CallError> {
        let verdict = self.wait.begin_poll();
        match (self.slot().poll(waker), verdict) {
            (Some(outcome), _) => Ok(Some(outcome)),
            (None, Some(deadlock)) => Err(CallError::Deadlock(deadlock)),
            (None, None) => {
                self.record_wait(site);
                Ok(None)
            }
        }
    }

    fn record_wait(&mut self, site: &'static Location<'static>) {
        let (what, beside) = (self.behavior.address().as_ptr(), self.slot.as_ptr());
        let cause = || Cause {
            how: HOW,
            site,
            kind: Self::KIND,
            what: what.cast_const().cast(),
            beside: beside.cast_const().cast(),
        };
        // SAFETY: the future's reference keeps the behavior, and is given back after the record's
        // end.
        unsafe { self.wait.record_wait(cause) };
    }

    /// The functions that find the target of a wait for a behavior.
    const KIND: &WaitKind = &WaitKind { target: behavior_of, waker: Self::waker };

    unsafe fn waker(cause: &Cause) -> Option<Waker> {
        // SAFETY: `waits` made the pointer, and the future keeps the behavior during this call.
        unsafe { &*cause.beside.cast::<Slot<F, Result<R, InUse>>>() }.take_waker()
    }
}

unsafe fn behavior_of(cause: &Cause) -> Option<Target> {
    let behavior = NonNull::new(cause.what.cast_mut().cast::<Header>())?;
    // SAFETY: `Scheduled::waits` made the pointer, and the future keeps the behavior during this
    // call.
    Some(Target::Behavior(unsafe { BehaviorRef::retain(behavior) }))
}

impl<F, R> Drop for Scheduled<F, R> {
    fn drop(&mut self) {
        self.wait.end();
        self.slot().abandon();
    }
}

/// A closure that waits for its lanes, in one allocation.
#[repr(C)]
pub(super) struct Behavior<S: Set<F, R>, F, R> {
    header: Header,
    claims: S::Claims,
    /// The number of lanes that the set needs.
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
        wants: &[Request],
        color: Option<LanePtr>,
        site: &'static Location<'static>,
    ) -> Scheduled<F, R> {
        let vtable = &behavior::Vtable {
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
        let mut behavior = Boxed::new(behavior);
        let place = behavior.as_ptr();
        let lends = lends_urgency();
        for claim in behavior.claims.as_mut() {
            // SAFETY: the set keeps the lanes of the claims that have one.
            unsafe { claim.belong_to(place.cast(), lends) };
        }
        let place = behavior.into_raw();
        // SAFETY: `place` points to the behavior that has just been made, so the field is inside
        // its allocation.
        let slot = unsafe { &raw mut (*place.as_ptr()).slot };
        Scheduled {
            wait: WaitSlot::default(),
            // SAFETY: one of the references of a fresh behavior belongs to the future.
            behavior: unsafe { BehaviorRef::from_counted(place.cast()) },
            slot: NonNull::new(slot).expect("a field"),
        }
    }

    /// See [`behavior::Vtable::run`].
    unsafe fn run_erased(header: NonNull<Header>, cancel: bool) -> Option<Waker> {
        // SAFETY: the vtable belongs to a behavior of this type, which the caller keeps.
        let behavior = unsafe { header.cast::<Self>().as_ref() };
        let f = behavior.slot.begin()?;
        if cancel {
            contain(|| drop(f));
            return behavior.slot.finish(Outcome::Cancelled);
        }
        let outcome = behavior.slot.run(|| {
            // SAFETY: the caller of `run` in the vtable has all lanes, as the claims wanted them.
            unsafe { behavior.set.run(|_| false, f) }
        });
        behavior.slot.finish(outcome)
    }

    /// See [`behavior::Vtable::claims`].
    unsafe fn claims_erased(behavior: NonNull<Header>) -> *const [Claim] {
        // SAFETY: the vtable belongs to a behavior of this type, which the caller keeps alive.
        let behavior = unsafe { behavior.cast::<Self>().as_ref() };
        &raw const behavior.claims.as_ref()[..behavior.lanes]
    }

    /// See [`behavior::Vtable::free`].
    unsafe fn free_erased(behavior: NonNull<Header>) {
        // SAFETY: the vtable belongs to a behavior of this type, which `allocate` made, and the caller has
        // given back the last reference.
        let Self { set, slot, .. } =
            unsafe { Boxed::from_raw(behavior.cast::<Self>()) }.into_inner();
        // The set may keep the last clones of its cells.
        contain(|| drop((set, slot)));
    }
}
