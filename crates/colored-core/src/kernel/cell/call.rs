//! [`Call`]: the result of a closure that runs under a cell's color.

use super::access::CallError;
use super::checked::Fallible;
use super::queued::Queued;
use super::{ColorCell, InUse};
use crate::hooks::at_site;
use crate::kernel::budget;
use crate::kernel::task::How;
use crate::kernel::wait::AwaitedTurn;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The future of [`ColorCell::call`].
#[must_use = "futures do nothing unless awaited"]
pub struct Call<T: Send + 'static, F, R> {
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
        Self { cell, site, progress: Progress::Unstarted(f) }
    }

    /// Whether the closure waits in the color's line, or has its turn.
    pub(crate) fn is_scheduled(&self) -> bool {
        matches!(self.progress, Progress::Queued(_))
    }

    fn turn(&self) -> AwaitedTurn {
        const HOW: &How = &How { text: "calls a cell of", is_shared: false };
        let lane = self.cell.inner.lane().ptr();
        AwaitedTurn { lane, how: HOW, site: self.site }
    }
}

impl<T, F, R> Fallible for Call<T, F, R>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R + Send + 'static,
    R: Send + 'static,
{
    type Value = R;

    #[inline]
    fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Result<R, CallError>> {
        if budget::poll_proceed(cx).is_pending() {
            return Poll::Pending;
        }
        match std::mem::replace(&mut self.progress, Progress::Done) {
            Progress::Unstarted(f) => match at_site(self.site, || self.cell.call_now(f)) {
                Ok(result) => return Poll::Ready(Ok(result?)),
                Err(f) => {
                    let cell = self.cell.clone();
                    // The closure then has the color, so `InUse` is the only possible error.
                    let run = move |f| cell.try_with(f).map_err(|_| InUse);
                    let queued = at_site(self.site, || {
                        Queued::post(self.cell.inner.lane(), self.turn(), f, cx.waker(), run)
                    });
                    self.progress = Progress::Queued(queued);
                }
            },
            Progress::Queued(mut queued) => match queued.poll(cx.waker(), || Some(self.turn()))? {
                Poll::Ready(outcome) => return Poll::Ready(outcome.into_result()),
                Poll::Pending => self.progress = Progress::Queued(queued),
            },
            Progress::Done => panic!("a call was polled again after it had given the result"),
        }
        budget::give_back();
        Poll::Pending
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
        let result = ready!(self.poll_result(cx));
        Poll::Ready(result.unwrap_or_else(|error| {
            let color = self.cell.color();
            error.raise(format_args!("the call of a cell of {color}"), self.site)
        }))
    }
}

impl<T: Send + 'static, F, R> fmt::Debug for Call<T, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("cell", &self.cell).finish_non_exhaustive()
    }
}
