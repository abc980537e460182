//! [`Call`] and [`TryCall`]: the result of a closure that runs under a cell's color.

use super::ColorCell;
use crate::budget;
use crate::lane::callback;
use crate::sched::waits::{self, Turn, Wait};
use crate::sync::{Arc, Mutex, MutexGuard};
use crate::task::Deadlock;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::thread;

/// The future of [`ColorCell::call`].
#[must_use = "futures do nothing unless awaited"]
pub struct Call<T: Send + 'static, F, R>(TryCall<T, F, R>);

/// The future of [`ColorCell::try_call`].
#[must_use = "futures do nothing unless awaited"]
pub struct TryCall<T: Send + 'static, F, R> {
    cell: ColorCell<T>,
    site: &'static Location<'static>,
    stage: Stage<F, R>,
}

/// Why a closure was not called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// To wait for its turn would never end: the color is held by a section
    /// ([`exclusive`](crate::exclusive())) that waits, in the end, for the caller.
    Deadlock(Deadlock),
    /// The runtime shut down before its turn came.
    ShutDown,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock(deadlock) => deadlock.fmt(f),
            Self::ShutDown => f.write_str("the runtime shut down before the call ran"),
        }
    }
}

impl std::error::Error for CallError {}

enum Stage<F, R> {
    Unstarted(F),
    Posted(Arc<Mutex<Slot<F, R>>>),
    Done,
}

/// Where caller and color meet.
enum Slot<F, R> {
    /// The closure has not begun. The record of the wait goes when it does.
    Waiting(F, Waker, Option<Wait>),
    /// The closure has not begun and nobody waits for it: its color drops it.
    Abandoned(F),
    /// It runs.
    Taken(Option<Waker>),
    /// It has run.
    Ready(thread::Result<R>),
    /// It was dropped by the runtime's shutdown.
    Cancelled,
}

impl<T: Send + 'static, F, R> Call<T, F, R> {
    #[track_caller]
    pub(super) fn new(cell: ColorCell<T>, f: F) -> Self {
        Self(TryCall::new(cell, f))
    }

    /// Whether it stands in the color's line, or has its turn.
    pub(crate) fn is_scheduled(&self) -> bool {
        matches!(self.0.stage, Stage::Posted(_))
    }
}

impl<T, F, R> Future for Call<T, F, R>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R + Send + 'static,
    R: Send + 'static,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        match ready!(Pin::new(&mut self.0).poll(cx)) {
            Ok(result) => Poll::Ready(result),
            Err(CallError::ShutDown) => {
                panic!("the runtime of {:?} shut down before the call ran", self.0.cell)
            }
            Err(CallError::Deadlock(deadlock)) => {
                panic!("the call of {:?} at {}: {deadlock}", self.0.cell, self.0.site)
            }
        }
    }
}

impl<T: Send + 'static, F, R> TryCall<T, F, R> {
    #[track_caller]
    pub(super) fn new(cell: ColorCell<T>, f: F) -> Self {
        Self { cell, site: Location::caller(), stage: Stage::Unstarted(f) }
    }

    fn turn(&self) -> Turn<'_> {
        let lane = self.cell.inner.lane();
        Turn { lane, shared: false, how: "calls a cell of", site: self.site }
    }

    /// Records, again if need be, that this task waits for the turn. After an error it does not.
    #[cold]
    fn record_again(&self, slot: &Mutex<Slot<F, R>>) -> Result<(), Deadlock> {
        // Under the lock: a turn that has begun is waited for no more.
        let mut guard = slot.lock();
        let Slot::Waiting(_, _, place) = &mut *guard else { return Ok(()) };
        match waits::queued(place.take(), self.turn()) {
            Ok(wait) => *place = wait,
            Err(deadlock) => {
                abandon(guard);
                return Err(deadlock);
            }
        }
        Ok(())
    }
}

// The closure is never pinned.
impl<T: Send + 'static, F, R> Unpin for TryCall<T, F, R> {}

impl<T, F, R> Future for TryCall<T, F, R>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R + Send + 'static,
    R: Send + 'static,
{
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if budget::poll_proceed(cx).is_pending() {
            return Poll::Pending;
        }
        let this = &mut *self;
        match std::mem::replace(&mut this.stage, Stage::Done) {
            Stage::Unstarted(f) => match this.cell.call_now(f) {
                Ok(result) => return Poll::Ready(Ok(result)),
                Err(f) => {
                    let waker = cx.waker().clone();
                    let slot = if waits::are_watched() {
                        waits::queue(this.turn(), |wait, order| {
                            post(&this.cell, Slot::Waiting(f, waker, wait), order)
                        })
                        .map_err(CallError::Deadlock)?
                    } else {
                        post(&this.cell, Slot::Waiting(f, waker, None), ())
                    };
                    this.stage = Stage::Posted(slot);
                }
            },
            Stage::Posted(slot) => {
                if waits::are_watched()
                    && let Err(deadlock) = this.record_again(&slot)
                {
                    return Poll::Ready(Err(CallError::Deadlock(deadlock)));
                }
                if let Some(outcome) = poll_slot(&slot, cx) {
                    return Poll::Ready(outcome);
                }
                this.stage = Stage::Posted(slot);
            }
            Stage::Done => panic!("a call was polled again after it had given the result"),
        }
        budget::give_back();
        Poll::Pending
    }
}

/// The outcome, if there is one; otherwise the waker is left there.
fn poll_slot<F, R>(slot: &Mutex<Slot<F, R>>, cx: &Context<'_>) -> Option<Result<R, CallError>> {
    // A waker is anybody's code: it is cloned before the lock, and dropped after it.
    let waker = cx.waker().clone();
    let mut guard = slot.lock();
    let old = match std::mem::replace(&mut *guard, Slot::Cancelled) {
        Slot::Ready(Ok(result)) => return Some(Ok(result)),
        Slot::Ready(Err(payload)) => {
            drop(guard);
            resume_unwind(payload)
        }
        Slot::Cancelled => return Some(Err(CallError::ShutDown)),
        Slot::Abandoned(_) => unreachable!("only a call that has ended abandons the closure"),
        Slot::Waiting(f, old, wait) => {
            *guard = Slot::Waiting(f, waker, wait);
            Some(old)
        }
        Slot::Taken(old) => {
            *guard = Slot::Taken(Some(waker));
            old
        }
    };
    drop(guard);
    drop(old);
    None
}

/// The caller does not wait any longer.
fn abandon<F, R>(mut guard: MutexGuard<'_, Slot<F, R>>) {
    match std::mem::replace(&mut *guard, Slot::Taken(None)) {
        Slot::Waiting(f, waker, wait) => {
            *guard = Slot::Abandoned(f);
            drop(guard);
            drop((waker, wait));
        }
        Slot::Taken(waker) => {
            drop(guard);
            drop(waker);
        }
        rest => *guard = rest,
    }
}

/// Schedules the closure under the cell's color; `guard` as for [`callback::post_under`].
fn post<T, F, R, G>(cell: &ColorCell<T>, slot: Slot<F, R>, guard: G) -> Arc<Mutex<Slot<F, R>>>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R + Send + 'static,
    R: Send + 'static,
{
    let slot = Arc::new(Mutex::new(slot));
    let turn = Posted { cell: cell.clone(), slot: Arc::clone(&slot) };
    callback::post_under(cell.inner.lane(), move || turn.run(), guard);
    slot
}

/// The color's half. Dropped unrun at shutdown.
struct Posted<T: Send + 'static, F, R> {
    cell: ColorCell<T>,
    slot: Arc<Mutex<Slot<F, R>>>,
}

impl<T: Send + 'static, F: FnOnce(&mut T) -> R, R> Posted<T, F, R> {
    fn run(self) {
        let mut guard = self.slot.lock();
        let before = std::mem::replace(&mut *guard, Slot::Taken(None));
        let (f, wait) = match before {
            Slot::Waiting(f, waker, wait) => {
                *guard = Slot::Taken(Some(waker));
                (f, wait)
            }
            abandoned => {
                drop(guard);
                drop(abandoned);
                return;
            }
        };
        drop(guard);
        drop(wait);
        let result = catch_unwind(AssertUnwindSafe(|| self.cell.with(f)));
        self.settle(Slot::Ready(result));
    }
}

impl<T: Send + 'static, F, R> Posted<T, F, R> {
    fn settle(&self, outcome: Slot<F, R>) {
        let before = std::mem::replace(&mut *self.slot.lock(), outcome);
        if let Slot::Waiting(_, waker, _) | Slot::Taken(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl<T: Send + 'static, F, R> Drop for Posted<T, F, R> {
    fn drop(&mut self) {
        let pending = matches!(&*self.slot.lock(), Slot::Waiting(..));
        if pending {
            self.settle(Slot::Cancelled);
        }
    }
}

impl<T: Send + 'static, F, R> Drop for TryCall<T, F, R> {
    fn drop(&mut self) {
        if let Stage::Posted(slot) = &self.stage {
            abandon(slot.lock());
        }
    }
}

impl<T: Send + 'static, F, R> fmt::Debug for Call<T, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("cell", &self.0.cell).finish_non_exhaustive()
    }
}

impl<T: Send + 'static, F, R> fmt::Debug for TryCall<T, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryCall").field("cell", &self.cell).finish_non_exhaustive()
    }
}
