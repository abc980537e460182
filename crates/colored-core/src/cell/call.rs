//! [`Call`]: the result of a closure that runs under a cell's color.

use super::ColorCell;
use crate::budget;
use crate::lane::callback;
use crate::sync::{Arc, Mutex};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;

/// The future of [`ColorCell::call`].
#[must_use = "futures do nothing unless awaited"]
pub struct Call<T: Send + 'static, F, R> {
    cell: ColorCell<T>,
    stage: Stage<F, R>,
}

enum Stage<F, R> {
    Unstarted(F),
    Posted(Arc<Mutex<Slot<F, R>>>),
    Done,
}

/// Where caller and color meet.
enum Slot<F, R> {
    /// The closure has not begun.
    Waiting(F, Waker),
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
    pub(super) fn new(cell: ColorCell<T>, f: F) -> Self {
        Self { cell, stage: Stage::Unstarted(f) }
    }
}

// The closure is never pinned.
impl<T: Send + 'static, F, R> Unpin for Call<T, F, R> {}

impl<T, F, R> Future for Call<T, F, R>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R + Send + 'static,
    R: Send + 'static,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        if budget::poll_proceed(cx).is_pending() {
            return Poll::Pending;
        }
        let this = &mut *self;
        match std::mem::replace(&mut this.stage, Stage::Done) {
            Stage::Unstarted(f) => match this.cell.call_now(f) {
                Ok(result) => return Poll::Ready(result),
                Err(f) => this.stage = Stage::Posted(post(&this.cell, f, cx.waker().clone())),
            },
            Stage::Posted(slot) => {
                // A waker is anybody's code: it is cloned before the lock, and dropped after it.
                let waker = cx.waker().clone();
                let mut guard = slot.lock();
                let _old = match std::mem::replace(&mut *guard, Slot::Cancelled) {
                    Slot::Ready(Ok(result)) => return Poll::Ready(result),
                    Slot::Ready(Err(payload)) => {
                        drop(guard);
                        resume_unwind(payload)
                    }
                    Slot::Cancelled => {
                        drop(guard);
                        panic!("the runtime of {:?} shut down before the call ran", this.cell)
                    }
                    Slot::Abandoned(_) => unreachable!("only a drop abandons the call"),
                    Slot::Waiting(f, old) => {
                        *guard = Slot::Waiting(f, waker);
                        Some(old)
                    }
                    Slot::Taken(old) => {
                        *guard = Slot::Taken(Some(waker));
                        old
                    }
                };
                drop(guard);
                this.stage = Stage::Posted(slot);
            }
            Stage::Done => panic!("a `Call` was polled again after it had given the result"),
        }
        budget::give_back();
        Poll::Pending
    }
}

/// Schedules the closure under the cell's color.
fn post<T, F, R>(cell: &ColorCell<T>, f: F, waker: Waker) -> Arc<Mutex<Slot<F, R>>>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R + Send + 'static,
    R: Send + 'static,
{
    let slot = Arc::new(Mutex::new(Slot::Waiting(f, waker)));
    let turn = Turn { cell: cell.clone(), slot: Arc::clone(&slot) };
    callback::post(cell.inner.lane(), move || turn.run());
    slot
}

/// The color's half. Dropped unrun at shutdown.
struct Turn<T: Send + 'static, F, R> {
    cell: ColorCell<T>,
    slot: Arc<Mutex<Slot<F, R>>>,
}

impl<T: Send + 'static, F: FnOnce(&mut T) -> R, R> Turn<T, F, R> {
    fn run(self) {
        let mut guard = self.slot.lock();
        let before = std::mem::replace(&mut *guard, Slot::Taken(None));
        let f = match before {
            Slot::Waiting(f, waker) => {
                *guard = Slot::Taken(Some(waker));
                f
            }
            abandoned => {
                drop(guard);
                drop(abandoned);
                return;
            }
        };
        drop(guard);
        let result = catch_unwind(AssertUnwindSafe(|| self.cell.with(f)));
        self.settle(Slot::Ready(result));
    }
}

impl<T: Send + 'static, F, R> Turn<T, F, R> {
    fn settle(&self, outcome: Slot<F, R>) {
        let before = std::mem::replace(&mut *self.slot.lock(), outcome);
        if let Slot::Waiting(_, waker) | Slot::Taken(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl<T: Send + 'static, F, R> Drop for Turn<T, F, R> {
    fn drop(&mut self) {
        let pending = matches!(&*self.slot.lock(), Slot::Waiting(..));
        if pending {
            self.settle(Slot::Cancelled);
        }
    }
}

impl<T: Send + 'static, F, R> Drop for Call<T, F, R> {
    fn drop(&mut self) {
        let Stage::Posted(slot) = &self.stage else { return };
        let mut guard = slot.lock();
        match std::mem::replace(&mut *guard, Slot::Taken(None)) {
            Slot::Waiting(f, waker) => {
                *guard = Slot::Abandoned(f);
                drop(guard);
                drop(waker);
            }
            Slot::Taken(waker) => {
                drop(guard);
                drop(waker);
            }
            rest => *guard = rest,
        }
    }
}

impl<T: Send + 'static, F, R> fmt::Debug for Call<T, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("cell", &self.cell).finish_non_exhaustive()
    }
}
