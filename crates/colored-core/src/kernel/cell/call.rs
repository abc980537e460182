//! Calls and reads: futures of the result of one closure, which runs under a cell's color, or beside other readers.

use super::access::{CallError, Checked, Fallible};
use super::queued::{Outcome, Queued, Slot};
use super::{ColorCell, InUse};
use crate::hooks::{self, at_site};
use crate::kernel::budget;
use crate::kernel::lane::current::Closure;
use crate::kernel::lane::readers::{self, QueuedRead};
use crate::kernel::task::{How, contain};
use crate::kernel::wait::AwaitedTurn;
use crate::sync::Arc;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

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

/// Runs `f`, out of the way of a closure that runs at once.
#[cold]
#[inline(never)]
fn out_of_line<R>(f: impl FnOnce() -> R) -> R {
    f()
}

impl<F, R> Progress<F, R> {
    /// The poll of a call and of a read, at `site`. `now` runs the closure at once, or returns it; `queue` puts it in line,
    /// where the future waits for `turn`. `what` names the future.
    #[inline(always)]
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
        what: &str,
        now: impl FnOnce(F) -> Result<Result<R, InUse>, F>,
        queue: impl FnOnce(F, &Waker) -> Queued<F, Result<R, InUse>>,
        turn: impl FnOnce() -> AwaitedTurn,
    ) -> Poll<Result<R, CallError>> {
        if budget::poll_proceed(cx).is_pending() {
            return Poll::Pending;
        }
        match std::mem::replace(self, Self::Done) {
            Self::Unstarted(f) => match at_site(site, || now(f)) {
                Ok(result) => return Poll::Ready(Ok(result?)),
                Err(f) => {
                    *self = Self::Queued(out_of_line(|| at_site(site, || queue(f, cx.waker()))))
                }
            },
            Self::Queued(mut queued) => match queued.poll(cx.waker(), || Some(turn()))? {
                Poll::Ready(outcome) => return Poll::Ready(outcome.into_result()),
                Poll::Pending => *self = Self::Queued(queued),
            },
            Self::Done => panic!("a {what} was polled again after it had given the result"),
        }
        budget::give_back();
        Poll::Pending
    }
}

impl<T: Send + 'static, F, R> Call<T, F, R> {
    pub(super) fn new(cell: ColorCell<T>, site: &'static Location<'static>, f: F) -> Self {
        Self { cell, site, progress: Progress::Unstarted(f) }
    }

    /// Whether the closure waits in the color's line, or has its turn.
    pub(crate) fn is_scheduled(&self) -> bool {
        matches!(self.progress, Progress::Queued(_))
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
        const HOW: &How = &How { text: "calls a cell of", is_shared: false };
        let Self { cell, site, progress } = self;
        let (cell, site) = (&*cell, *site);
        let turn = || AwaitedTurn { lane: cell.inner.lane().ptr(), how: HOW, site };
        let queue = |f, waker: &Waker| {
            let here = cell.clone();
            // The closure then has the color, so `InUse` is the only possible error.
            let run = move |f| here.try_with(f).map_err(|_| InUse);
            Queued::post(cell.inner.lane(), turn(), f, waker, run)
        };
        progress.poll(cx, site, "call", |f| cell.call_now(f), queue, turn)
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

/// The future of [`ColorCell::read`].
#[must_use = "futures do nothing unless awaited"]
pub struct Read<'a, T: Send + 'static, F, R> {
    cell: &'a ColorCell<T>,
    site: &'static Location<'static>,
    progress: Progress<F, R>,
}

impl<T: Send + Sync + 'static> ColorCell<T> {
    /// Reads the value, in parallel with other readers, and waits for the result.
    ///
    /// Readers of one color run in parallel with each other, but not with its tasks, callbacks,
    /// calls and destructors. The order is the order of scheduling: a read sees the effects of
    /// everything that was scheduled on the color before it, and everything that is scheduled after
    /// it waits until it is over. So endless readers starve no writer, and endless writers no
    /// reader.
    ///
    /// `f` runs at once on this thread if the color is idle, if others are reading and nothing
    /// waits, or if the color is the caller's own and nothing is scheduled there; otherwise it runs
    /// on some worker, when its turn comes. If a call waits for the readers to leave, a new reader
    /// lets the call go first, if that takes only a few microseconds. `f` runs *beside* the color,
    /// not under it: [`Color::current`](crate::Color::current) is the caller's color in the first
    /// case and a fresh one in the other, and [`ColorCell::with`] is refused.
    ///
    /// Cancel safe: a read that is dropped before its first poll drops `f` at once. A scheduled
    /// read drops `f` under the cell's color, unless its turn has come; then `f` runs.
    ///
    /// Costs two atomic exchanges if the color is idle or others are reading. A read that has to wait
    /// costs an allocation, a clone of the cell, a shared slot for the result, a part
    /// of a lane (which takes eight readers, or as many as begin within 16 µs), and a wake-up. All
    /// readers write to one word, so longer reads gain more.
    ///
    /// # Panics
    ///
    /// With the panic of `f`; and where [`checked_read`](Self::checked_read) returns an error: the text
    /// names the line of the read.
    ///
    /// # Examples
    ///
    /// ```
    /// # use colored_core::{Color, ColorCell, SchedulerHandle};
    /// async fn total(prices: &ColorCell<Vec<u64>>) -> u64 {
    ///     prices.read(|prices| prices.iter().sum()).await
    /// }
    /// ```
    #[track_caller]
    pub fn read<R, F>(&self, f: F) -> Read<'_, T, F, R>
    where
        F: FnOnce(&T) -> R + Send + 'static,
        R: Send + 'static,
    {
        Read::new(self, Location::caller(), f)
    }

    /// As [`read`](Self::read), with an error in place of a panic that is not `f`'s, and as cancel safe.
    ///
    /// # Errors
    ///
    /// [`CallError`]: if the runtime shuts down before `f` has run; if the turn of `f` would never
    /// come, because a section ([`exclusive`](crate::exclusive())) holds the color and waits,
    /// directly or through other waits, for the caller; and inside an access to the same cell, from
    /// under its color. `f` is dropped, at once if it was never scheduled.
    ///
    /// # Panics
    ///
    /// With the panic of `f`.
    #[track_caller]
    pub fn checked_read<R, F>(&self, f: F) -> Checked<Read<'_, T, F, R>>
    where
        F: FnOnce(&T) -> R + Send + 'static,
        R: Send + 'static,
    {
        Checked::new(Read::new(self, Location::caller(), f))
    }

    /// Runs `f` at once if it need not wait; returns `f` otherwise.
    fn read_now<R, F: FnOnce(&T) -> R>(&self, f: F) -> Result<Result<R, InUse>, F> {
        hooks::called(self.inner.lane());
        if self.inner.lane().is_free_here() {
            // SAFETY: `is_free_here` says that this thread holds the lane.
            return Ok(unsafe { self.inner.with(|value| f(value)) });
        }
        // `f` stays in the slot if the reader must wait.
        let mut slot = Some(f);
        let run = || self.look(slot.take().expect("run once"));
        match readers::read_inline(self.inner.lane(), run) {
            Ok(result) => Ok(result),
            Err(_) => Err(slot.take().expect("not run")),
        }
    }

    /// Calls `f` with the value. The caller is a reader that is inside.
    fn look<R>(&self, f: impl FnOnce(&T) -> R) -> Result<R, InUse> {
        self.inner.admits_readers()?;
        let _closure = Closure::begin();
        Ok(self.inner.place().with(|value| {
            // SAFETY: while readers are inside no thread holds the lane, and so no thread changes
            // the value.
            f(unsafe { &*value })
        }))
    }
}

impl<'a, T: Send + 'static, F, R> Read<'a, T, F, R> {
    fn new(cell: &'a ColorCell<T>, site: &'static Location<'static>, f: F) -> Self {
        Self { cell, site, progress: Progress::Unstarted(f) }
    }
}

impl<T, F, R> Fallible for Read<'_, T, F, R>
where
    T: Send + Sync + 'static,
    F: FnOnce(&T) -> R + Send + 'static,
    R: Send + 'static,
{
    type Value = R;

    fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Result<R, CallError>> {
        const HOW: &How = &How { text: "reads a cell of", is_shared: true };
        let Self { cell, site, progress } = self;
        let (cell, site) = (*cell, *site);
        let turn = || AwaitedTurn { lane: cell.inner.lane().ptr(), how: HOW, site };
        let queue = |f, waker: &Waker| {
            let (mut queued, slot) = Queued::new(f, waker.clone());
            readers::post(cell.inner.lane(), Reading { cell: cell.clone(), slot, f: None });
            queued.record_wait(turn());
            queued
        };
        progress.poll(cx, site, "read", |f| cell.read_now(f), queue, turn)
    }
}

// The closure is never pinned.
impl<T: Send + 'static, F, R> Unpin for Read<'_, T, F, R> {}

impl<T, F, R> Future for Read<'_, T, F, R>
where
    T: Send + Sync + 'static,
    F: FnOnce(&T) -> R + Send + 'static,
    R: Send + 'static,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let result = ready!(self.poll_result(cx));
        Poll::Ready(result.unwrap_or_else(|error| {
            let color = self.cell.color();
            error.raise(format_args!("the read of a cell of {color}"), self.site)
        }))
    }
}

impl<T: Send + 'static, F, R> fmt::Debug for Read<'_, T, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Read").field("cell", &self.cell).finish_non_exhaustive()
    }
}

/// The half that waits in the color's line.
struct Reading<T: Send + 'static, F, R> {
    slot: Arc<Slot<F, Result<R, InUse>>>,
    f: Option<F>,
    cell: ColorCell<T>,
}

impl<T, F, R> QueuedRead for Reading<T, F, R>
where
    T: Send + Sync + 'static,
    F: FnOnce(&T) -> R + Send + 'static,
    R: Send + 'static,
{
    fn begin(&mut self, closing: bool) -> bool {
        if self.f.is_none() {
            self.f = self.slot.begin();
        }
        if closing {
            self.cancel();
        }
        self.f.is_some()
    }

    fn run(&mut self) -> Option<Waker> {
        let f = self.f.take()?;
        self.slot.finish(self.slot.run(|| self.cell.look(f)))
    }

    fn cancel(&mut self) {
        if let Some(f) = self.f.take() {
            contain(|| drop(f));
            self.slot.finish_and_wake(Outcome::Cancelled);
        }
    }
}
