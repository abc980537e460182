//! [`Queued`]: a closure in the line of one color, and the future that waits for its result: for calls,
//! reads, `when` over one color, and the calls of types with a queue of their own ([`RemoteCall`]). The future and the thread
//! that runs the closure meet in a [`Slot`].
//!
//! A remote call serves types with a queue of their own, such as a mailbox, whose server runs under one
//! color from the moment at which the closure is sent. So the caller waits for that color, and is recorded
//! as such, until the closure begins or is dropped.

use crate::hooks::Carried;
use crate::kernel::cell::access::{CallError, InUse};
use crate::kernel::lane::{Address, LanePtr, LaneRef, push};
use crate::kernel::task::{Cause, How, Schedule, contain};
use crate::kernel::wait::{AwaitedTurn, Target, WaitKind, WaitSlot};
use crate::sync::{Arc, Mutex};
use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker, ready};
use std::{fmt, mem, thread};

/// The waiting future's half. When it is dropped, a closure that has not begun is dropped at its turn.
pub(super) struct Queued<F, R> {
    /// Dropped before the slot.
    wait: WaitSlot,
    /// `None` once the outcome has been returned.
    slot: Option<Arc<Slot<F, R>>>,
}

impl<F: Send + 'static, R: Send + 'static> Queued<F, R> {
    /// Puts `f` into the line of `lane`, where `run` runs it; `turn` names that turn. Both are dropped there if the
    /// runtime shuts down first.
    pub(super) fn post(
        lane: &LaneRef,
        turn: AwaitedTurn,
        f: F,
        waker: &Waker,
        run: impl Fn(F) -> R + Send + 'static,
    ) -> Self {
        let (mut queued, slot) = Self::new(f, waker.clone());
        let posted = Posted { call: RemoteCall::new(slot), run };
        push::post_awaited(lane, move || posted.run());
        queued.record_wait(turn);
        queued
    }
}

impl<F, R> Queued<F, R> {
    /// The future's half and the slot for the half that runs the closure.
    pub(super) fn new(f: F, waker: Waker) -> (Self, Arc<Slot<F, R>>) {
        let slot = Arc::new(Slot::new(f, waker));
        (Self { wait: WaitSlot::default(), slot: Some(Arc::clone(&slot)) }, slot)
    }

    /// Records that the task waits for that turn. The closure, or the caller, keeps the lane until the closure begins.
    pub(super) fn record_wait(&mut self, turn: AwaitedTurn) {
        if let Some(slot) = &self.slot {
            // SAFETY: this keeps the slot, and drops the record first. The search uses the lane only under the slot's
            // lock while the closure has not begun, and until then the closure, or the caller, keeps the lane.
            unsafe { self.wait.record_wait(|| slot.cause(turn)) };
        }
    }

    /// Returns the outcome, once, or stores `waker` to be woken when it is there. `turn` names the awaited
    /// turn again, if there is one.
    ///
    /// # Errors
    ///
    /// If the wait would never end.
    pub(super) fn poll(
        &mut self,
        waker: &Waker,
        turn: impl FnOnce() -> Option<AwaitedTurn>,
    ) -> Poll<Result<Outcome<R>, CallError>> {
        let verdict = self.wait.begin_poll();
        let slot = self.slot.as_ref().expect("it has no outcome yet");
        let polled = slot.poll(waker).map_or(Poll::Pending, Poll::Ready);
        match (polled, verdict) {
            (Poll::Ready(outcome), _) => {
                self.wait.end();
                self.slot = None;
                Poll::Ready(Ok(outcome))
            }
            (Poll::Pending, Some(deadlock)) => Poll::Ready(Err(CallError::Deadlock(deadlock))),
            (Poll::Pending, None) => {
                if let Some(turn) = turn() {
                    self.record_wait(turn);
                }
                Poll::Pending
            }
        }
    }

    /// No future waits any more.
    pub(super) fn abandon(&mut self) {
        self.wait.end();
        if let Some(slot) = self.slot.take() {
            slot.abandon();
        }
    }
}

impl<F, R> Drop for Queued<F, R> {
    fn drop(&mut self) {
        self.abandon();
    }
}

/// A closure that is sent to a color. Its receiver runs or drops it.
pub struct RemoteCall<F, R>(Option<Arc<Slot<F, R>>>);

impl<F, R> RemoteCall<F, R> {
    pub(super) fn new(slot: Arc<Slot<F, R>>) -> Self {
        Self(Some(slot))
    }

    /// Runs the closure by `run`, unless its caller is gone. Its turn has come.
    pub fn run(mut self, run: impl FnOnce(F) -> R) {
        if let Some(slot) = self.0.take()
            && let Some(f) = slot.begin()
        {
            slot.finish_and_wake(slot.run(|| run(f)));
        }
    }
}

impl<F, R> Drop for RemoteCall<F, R> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take()
            && let Some(f) = slot.begin()
        {
            contain(|| drop(f));
            slot.finish_and_wake(Outcome::Cancelled);
        }
    }
}

impl<F, R> fmt::Debug for RemoteCall<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCall").finish_non_exhaustive()
    }
}

/// The half that waits in the color's line. A shutdown drops it without running it.
struct Posted<F, R, Q> {
    call: RemoteCall<F, R>,
    /// It may keep the last clones of cells, so it is dropped after the caller has been told.
    run: Q,
}

impl<F, R, Q: Fn(F) -> R> Posted<F, R, Q> {
    fn run(self) {
        let Self { call, run } = self;
        call.run(&run);
    }
}

/// The caller's side of a [`RemoteCall`], which gets the result. If it is dropped, a closure that has not
/// begun is dropped at its turn.
pub struct RemoteCallWait<F, R> {
    /// Dropped before the lane that its record names.
    queued: Queued<F, R>,
    address: Option<Address>,
}

impl<F, R> RemoteCallWait<F, R> {
    /// Makes a closure and its caller's side; `waker` wakes the caller.
    #[must_use]
    pub fn new(f: F, waker: Waker) -> (Self, RemoteCall<F, R>) {
        let (queued, slot) = Queued::new(f, waker);
        (Self { queued, address: None }, RemoteCall::new(slot))
    }

    /// Polls for the result or the panic of the closure. Until the closure begins, the calling task
    /// waits for the color of `address`, if there is one; a [`Deadlock`](crate::Deadlock) names `site`.
    ///
    /// # Errors
    ///
    /// [`CallError::ShutDown`] if the closure was dropped, [`CallError::Deadlock`] if it would never
    /// begin. The caller must not poll again then.
    pub fn poll(
        &mut self,
        cx: &Context<'_>,
        site: &'static Location<'static>,
        address: impl FnOnce() -> Option<Address>,
    ) -> Poll<Result<thread::Result<R>, CallError>> {
        const HOW: &How = &How { text: "calls a pinned cell of", is_shared: false };
        let Self { queued, address: kept } = self;
        let turn = || {
            *kept = kept.take().or_else(address);
            kept.as_ref().map(|address| AwaitedTurn { lane: address.lane().ptr(), how: HOW, site })
        };
        Poll::Ready(match ready!(queued.poll(cx.waker(), turn))? {
            Outcome::Done(result) => Ok(Ok(result)),
            Outcome::Panicked(payload) => Ok(Err(payload)),
            Outcome::Cancelled => Err(CallError::ShutDown),
        })
    }
}

impl<F, R> Drop for RemoteCallWait<F, R> {
    fn drop(&mut self) {
        // The slot may hold a result that was never taken.
        contain(|| self.queued.abandon());
    }
}

impl<F, R> fmt::Debug for RemoteCallWait<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCallWait").finish_non_exhaustive()
    }
}

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
        // The lock keeps the closure from beginning meanwhile.
        let state = slot.state.lock();
        matches!(*state, SlotState::Waiting(..)).then(|| {
            let lane = NonNull::new(cause.beside.cast_mut()).expect("there is a lane");
            // SAFETY: the closure has not begun, and keeps the lane.
            Target::Lane(unsafe { LaneRef::counted(LanePtr::from_raw(lane.cast())) })
        })
    }

    unsafe fn waker(cause: &Cause) -> Option<Waker> {
        // SAFETY: as in `target`.
        unsafe { &*cause.what.cast::<Self>() }.take_waker()
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
        match catch_unwind(AssertUnwindSafe(|| self.span.within(run))) {
            Ok(result) => Outcome::Done(result),
            Err(payload) => Outcome::Panicked(payload),
        }
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
        let mut state = self.state.lock();
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
}
