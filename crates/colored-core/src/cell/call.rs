//! [`Call`] and [`TryCall`]: the result of a closure that runs under a cell's color.

use super::access::CallError;
use super::queued::Queued;
use super::{ColorCell, InUse};
use crate::budget;
use crate::task::How;
use crate::wait::AwaitedTurn;
use std::fmt;
use std::panic::Location;
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
    progress: Progress<F, R>,
}

enum Progress<F, R> {
    Unstarted(F),
    Queued(Queued<F, Result<R, InUse>>),
    Done,
}

impl<T: Send + 'static, F, R> Call<T, F, R> {
    pub(super) fn new(cell: ColorCell<T>, site: &'static Location<'static>, f: F) -> Self {
        Self(TryCall::new(cell, site, f))
    }

    /// Whether the closure waits in the color's line, or has its turn.
    pub(crate) fn is_scheduled(&self) -> bool {
        matches!(self.0.progress, Progress::Queued(_))
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
        Self { cell, site, progress: Progress::Unstarted(f) }
    }

    fn turn(&self) -> AwaitedTurn {
        const HOW: &How = &How { text: "calls a cell of", is_shared: false };
        let lane = self.cell.inner.lane().ptr();
        AwaitedTurn { lane, how: HOW, site: self.site }
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
        match std::mem::replace(&mut this.progress, Progress::Done) {
            Progress::Unstarted(f) => match this.cell.call_now(f) {
                Ok(result) => return Poll::Ready(Ok(result?)),
                Err(f) => {
                    let cell = this.cell.clone();
                    // The closure then has the color, so `InUse` is the only possible error.
                    let run = move |f| cell.try_with(f).map_err(|_| InUse);
                    let queued =
                        Queued::post(this.cell.inner.lane(), this.turn(), f, cx.waker(), run);
                    this.progress = Progress::Queued(queued);
                }
            },
            Progress::Queued(mut queued) => match queued.poll(cx.waker(), || Some(this.turn()))? {
                Poll::Ready(outcome) => return Poll::Ready(outcome.into_result()),
                Poll::Pending => this.progress = Progress::Queued(queued),
            },
            Progress::Done => panic!("a call was polled again after it had given the result"),
        }
        budget::give_back();
        Poll::Pending
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
