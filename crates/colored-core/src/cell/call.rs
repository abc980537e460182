//! [`Call`] and [`TryCall`]: the result of a closure that runs under a cell's color.

use super::access::CallError;
use super::slot::{Outcome, Slot};
use super::{ColorCell, InUse};
use crate::budget;
use crate::contain::contain;
use crate::lane::callback;
use crate::sched::waits::{self, Turn};
use crate::sync::Arc;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

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

type Shared<F, R> = Arc<Slot<F, Result<R, InUse>>>;

enum Stage<F, R> {
    Unstarted(F),
    Posted(Shared<F, R>),
    Done,
}

impl<T: Send + 'static, F, R> Call<T, F, R> {
    pub(super) fn new(cell: ColorCell<T>, site: &'static Location<'static>, f: F) -> Self {
        Self(TryCall::new(cell, site, f))
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
            Err(error) => {
                let what = format_args!("the call of a cell of {}", self.0.cell.color());
                error.raise(what, self.0.site)
            }
        }
    }
}

impl<T: Send + 'static, F, R> TryCall<T, F, R> {
    pub(super) fn new(cell: ColorCell<T>, site: &'static Location<'static>, f: F) -> Self {
        Self { cell, site, stage: Stage::Unstarted(f) }
    }

    fn turn(&self) -> Turn<'_> {
        let lane = self.cell.inner.lane();
        Turn { lane, shared: false, how: "calls a cell of", site: self.site }
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
                Ok(result) => return Poll::Ready(Ok(result?)),
                Err(f) => {
                    let waker = cx.waker().clone();
                    let slot = if waits::are_watched() {
                        waits::queue(this.turn(), |wait, order| {
                            post(&this.cell, Slot::new(f, waker, wait), order)
                        })
                        .map_err(CallError::Deadlock)?
                    } else {
                        post(&this.cell, Slot::new(f, waker, None), ())
                    };
                    this.stage = Stage::Posted(slot);
                }
            },
            Stage::Posted(slot) => {
                if waits::are_watched()
                    && let Err(deadlock) =
                        slot.record_again(|before| waits::queued(before, this.turn()))
                {
                    return Poll::Ready(Err(CallError::Deadlock(deadlock)));
                }
                match slot.poll(cx.waker()) {
                    Some(outcome) => return Poll::Ready(outcome.into_result()),
                    None => this.stage = Stage::Posted(slot),
                }
            }
            Stage::Done => panic!("a call was polled again after it had given the result"),
        }
        budget::give_back();
        Poll::Pending
    }
}

/// Schedules the closure under the cell's color; `guard` as for [`callback::post_awaited`].
fn post<T, F, R, G>(cell: &ColorCell<T>, slot: Slot<F, Result<R, InUse>>, guard: G) -> Shared<F, R>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R + Send + 'static,
    R: Send + 'static,
{
    let slot = Arc::new(slot);
    let turn = Posted { slot: Arc::clone(&slot), has_come: false, cell: cell.clone() };
    callback::post_awaited(cell.inner.lane(), move || turn.run(), guard);
    slot
}

/// The color's half. Dropped unrun at shutdown.
struct Posted<T: Send + 'static, F, R> {
    slot: Shared<F, R>,
    has_come: bool,
    cell: ColorCell<T>,
}

impl<T: Send + 'static, F: FnOnce(&mut T) -> R, R> Posted<T, F, R> {
    fn run(mut self) {
        self.has_come = true;
        if let Some(f) = self.slot.begin() {
            // The color is this callback's: nothing else can be wrong.
            let run = || self.cell.try_with(f).map_err(|_| InUse);
            let result = catch_unwind(AssertUnwindSafe(run));
            self.slot.settle(result.into());
        }
    }
}

impl<T: Send + 'static, F, R> Drop for Posted<T, F, R> {
    fn drop(&mut self) {
        if !self.has_come
            && let Some(f) = self.slot.begin()
        {
            contain(|| drop(f));
            self.slot.settle(Outcome::Cancelled);
        }
    }
}

impl<T: Send + 'static, F, R> Drop for TryCall<T, F, R> {
    fn drop(&mut self) {
        if let Stage::Posted(slot) = &self.stage {
            slot.abandon();
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
