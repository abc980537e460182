//! The meeting point of a future and the thread that runs its closure.

use super::access::{CallError, InUse};
use crate::hooks::Carried;
use crate::kernel::contain::contain;
use crate::kernel::lane::{LanePtr, LaneRef};
use crate::kernel::task::{Cause, Schedule};
use crate::kernel::wait::{AwaitedTurn, Target, WaitKind};
use crate::sync::{Mutex, MutexGuard};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::task::Waker;
use std::{mem, thread};

/// A closure on its way to the thread that runs it, and its result on the way back.
pub(super) struct Slot<F, R> {
    state: Mutex<SlotState<F, R>>,
    /// The closure runs inside it.
    span: Carried,
}

enum SlotState<F, R> {
    /// The closure has not begun.
    Waiting(F, Waker),
    /// The closure has not begun, and no future waits for it: the thread that runs its turn drops it.
    Abandoned(F),
    /// The closure has begun.
    Begun(Waker),
    /// The closure has begun and no future waits for it, or all is over.
    Alone,
    /// The closure is over.
    Over(Outcome<R>),
}

/// The outcome of a closure.
pub(super) enum Outcome<R> {
    Done(R),
    Panicked(Box<dyn Any + Send>),
    /// The runtime shut down before the closure ran.
    Cancelled,
}

impl<R> From<thread::Result<R>> for Outcome<R> {
    fn from(result: thread::Result<R>) -> Self {
        match result {
            Ok(result) => Self::Done(result),
            Err(payload) => Self::Panicked(payload),
        }
    }
}

impl<R> Outcome<Result<R, InUse>> {
    /// The result for the waiting future. A panic of the closure goes on here.
    pub(super) fn into_result(self) -> Result<R, CallError> {
        match self {
            Self::Done(result) => Ok(result?),
            Self::Panicked(payload) => resume_unwind(payload),
            Self::Cancelled => Err(CallError::ShutDown),
        }
    }
}

impl<F, R> Slot<F, R> {
    /// The functions that find the target of a wait for a slot: the lane beside the slot in the [`Cause`].
    pub(super) const KIND: &WaitKind = &WaitKind { target: Self::target, waker: Self::waker };

    pub(super) fn new(f: F, waker: Waker) -> Self {
        Self { state: Mutex::new(SlotState::Waiting(f, waker)), span: Carried::from_here() }
    }

    /// The cause for the record of a wait for that turn. The caller keeps the slot alive, and the closure
    /// keeps the lane until it begins.
    pub(super) fn cause(&self, turn: AwaitedTurn) -> Cause {
        let (what, beside) = (ptr::from_ref(self).cast(), turn.lane.into_raw().as_ptr());
        Cause { how: turn.how, site: turn.site, kind: Self::KIND, what, beside: beside.cast() }
    }

    unsafe fn target(cause: &Cause) -> Option<Target> {
        // SAFETY: `cause` made the pointer, and the future keeps the slot during this call.
        let slot = unsafe { &*cause.what.cast::<Self>() };
        slot.while_it_waits(|| {
            let lane = NonNull::new(cause.beside.cast_mut()).expect("there is a lane");
            let lane = LanePtr::from_raw(lane.cast());
            // SAFETY: the closure has not begun, and keeps the lane.
            unsafe { lane.get() }.retain(1);
            // SAFETY: the reference was just counted.
            Target::Lane(unsafe { LaneRef::from_counted(lane) })
        })
    }

    unsafe fn waker(cause: &Cause) -> Option<Waker> {
        // SAFETY: as in `target`.
        unsafe { &*cause.what.cast::<Self>() }.take_waker()
    }

    /// Calls `f` if the closure has not begun. The lock keeps it from beginning meanwhile.
    pub(super) fn while_it_waits<T>(&self, f: impl FnOnce() -> T) -> Option<T> {
        let state = self.state.lock();
        matches!(*state, SlotState::Waiting(..)).then(f)
    }

    /// Takes the waker, if the closure has not begun. The caller must wake it, because no other thread
    /// will.
    pub(super) fn take_waker(&self) -> Option<Waker> {
        match &mut *self.state.lock() {
            SlotState::Waiting(_, waker) => Some(mem::replace(waker, Waker::noop().clone())),
            _ => None,
        }
    }

    /// Returns the outcome, once, or stores the waker to be woken when it is there.
    pub(super) fn poll(&self, waker: &Waker) -> Option<Outcome<R>> {
        // A waker is foreign code: it is cloned before the lock, and dropped after it.
        let waker = waker.clone();
        let mut state = self.state.lock();
        let (next, _old) = match mem::replace(&mut *state, SlotState::Alone) {
            SlotState::Over(outcome) => return Some(outcome),
            SlotState::Waiting(f, old) => (SlotState::Waiting(f, waker), old),
            SlotState::Begun(old) => (SlotState::Begun(waker), old),
            SlotState::Abandoned(..) | SlotState::Alone => unreachable!("nobody waits any more"),
        };
        *state = next;
        drop(state);
        None
    }

    /// Takes the closure when its turn has come. An abandoned closure is dropped here. `None` also if the closure has been
    /// taken before.
    pub(super) fn begin(&self) -> Option<F> {
        let mut state = self.state.lock();
        let is_wanted = match &*state {
            SlotState::Waiting(..) => true,
            SlotState::Abandoned(_) => false,
            _ => return None,
        };
        let f = match mem::replace(&mut *state, SlotState::Alone) {
            SlotState::Waiting(f, waker) => {
                *state = SlotState::Begun(waker);
                f
            }
            SlotState::Abandoned(f) => f,
            _ => unreachable!("the lock was not released"),
        };
        if is_wanted {
            return Some(f);
        }
        drop(state);
        contain(|| drop(f));
        None
    }

    /// Runs the closure, which has begun, by `run`. A panic of it is the outcome.
    pub(super) fn run(&self, run: impl FnOnce() -> R) -> Outcome<R> {
        catch_unwind(AssertUnwindSafe(|| self.span.within(run))).into()
    }

    /// Stores the outcome of the closure, and returns the waker to wake. Without a waiter, drops the
    /// outcome.
    pub(super) fn finish(&self, outcome: Outcome<R>) -> Option<Waker> {
        let mut state = self.state.lock();
        if let SlotState::Begun(waker) = mem::replace(&mut *state, SlotState::Alone) {
            *state = SlotState::Over(outcome);
            return Some(waker);
        }
        drop(state);
        contain(|| drop(outcome));
        None
    }

    /// Stores the outcome of the closure, and wakes its waiter.
    pub(super) fn finish_and_wake(&self, outcome: Outcome<R>) {
        if let Some(waker) = self.finish(outcome) {
            contain(|| waker.wake());
        }
    }

    /// Ends the call for a future that is dropped, or has failed.
    pub(super) fn abandon(&self) {
        abandon(self.state.lock());
    }
}

fn abandon<F, R>(mut state: MutexGuard<'_, SlotState<F, R>>) {
    let before = match mem::replace(&mut *state, SlotState::Alone) {
        SlotState::Waiting(f, waker) => {
            *state = SlotState::Abandoned(f);
            SlotState::Begun(waker)
        }
        abandoned @ SlotState::Abandoned(..) => {
            *state = abandoned;
            return;
        }
        before => before,
    };
    drop(state);
    drop(before);
}
