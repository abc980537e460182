//! [`LimitedCell`]: a cell behind a [`Limit`].

mod post;

pub use self::post::Post;

use super::futures::Reserve;
use super::permit::{CountedCall, Permit};
use super::{Limit, give_back};
use crate::error::{Closed, TrySendError};
use colored_core::{AccessError, ColorCell, port};
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;

/// A [`ColorCell`] whose calls and posts pass a [`Limit`]; from [`Limit::cell`].
///
/// A call or post keeps its permit until its closure has run or been dropped. Clones share the
/// value and the limit. Order, panics and the end of the value are as for a `ColorCell`.
///
/// Here `try_` means *if there is room now*. For an error in place of a panic, as by
/// [`ColorCell::try_call`], and for reading, sections and `when`, take a [`Permit`] and use
/// [`cell`](Self::cell).
///
/// ```
/// # use colored_core::{Color, Park, Scheduler, Step};
/// # use colored_limit::{Limit, TrySendError};
/// # struct NoPark;
/// # impl Park for NoPark { fn unpark(&self, _: usize) {} fn now(&self) -> u64 { 0 } }
/// # let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
/// # let _entered = handle.enter();
/// let log = Limit::new(Color::named("log"), 2).cell(Vec::new());
/// assert!(log.try_post(|log| log.push("one")).is_ok());
/// assert!(log.try_post(|log| log.push("two")).is_ok());
/// // The color has not run: two are inside.
/// let Err(TrySendError::Full(_shed)) = log.try_post(|log| log.push("three")) else { panic!() };
/// # while workers[0].step() == Step::Ran {}
/// assert_eq!(log.limit().depth(), 0);
/// ```
pub struct LimitedCell<T: Send + 'static> {
    cell: ColorCell<T>,
    limit: Limit,
}

impl<T: Send + 'static> LimitedCell<T> {
    #[track_caller]
    pub(super) fn new(limit: Limit, value: T) -> Self {
        Self { cell: ColorCell::new_in(&limit.inner.handle, limit.color(), value), limit }
    }

    /// The limit of the cell.
    #[must_use]
    pub fn limit(&self) -> &Limit {
        &self.limit
    }

    /// The cell without the limit, for accesses that a `LimitedCell` does not have. Hold a
    /// [`Permit`] during such an access; an access without a permit is not counted.
    ///
    /// ```
    /// use colored_core::{ColorCell, when};
    /// use colored_limit::{Closed, LimitedCell};
    ///
    /// async fn sum(stock: &LimitedCell<Vec<u64>>) -> Result<u64, Closed<()>> {
    ///     let _permit = stock.limit().reserve().await?; // room, for as long as it is kept
    ///     Ok(stock.cell().read(|stock| stock.iter().sum()).await)
    /// }
    ///
    /// async fn take(stock: &LimitedCell<Vec<u64>>, sold: &ColorCell<u64>) -> Result<(), Closed<()>> {
    ///     let _permit = stock.limit().reserve().await?;
    ///     when((stock.cell(), sold), |stock, sold| *sold += stock.pop().unwrap_or(0)).await;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// While code holds a permit, the search for deadlocks reports no wait for room, because there
    /// may be room at any time.
    #[must_use]
    pub fn cell(&self) -> &ColorCell<T> {
        &self.cell
    }

    /// Uses the value, from inside its color. This needs no permit.
    ///
    /// # Panics
    ///
    /// As [`ColorCell::with`].
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.cell.with(f)
    }

    /// Uses the value, from inside its color. This needs no permit.
    ///
    /// # Errors
    ///
    /// As [`ColorCell::try_with`].
    pub fn try_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, AccessError> {
        self.cell.try_with(f)
    }

    /// Waits for a permit, then uses the value under its color, as [`ColorCell::call`] does: at
    /// once if the color is idle, or the caller's own. From under the color itself the call waits
    /// for no permit.
    ///
    /// Cancel safe: a call that is dropped before it has a permit leaves the line; afterwards it
    /// behaves as `ColorCell::call`.
    ///
    /// # Errors
    ///
    /// [`Closed`], with `f`, if the limit is closed before there is a permit.
    ///
    /// # Panics
    ///
    /// As [`ColorCell::call`], and as [`Limit::reserve`]. For errors in place of both, take a
    /// permit by [`Limit::try_wait`] and use [`ColorCell::try_call`] of the [`cell`](Self::cell).
    #[track_caller]
    pub fn call<R, F>(
        &self,
        f: F,
    ) -> impl Future<Output = Result<R, Closed<F>>> + Send + use<'_, T, R, F>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        let (site, reserve): (_, Reserve<'_>) = (Location::caller(), self.limit.reserve());
        async move {
            match reserve.await {
                Ok(permit) => Ok(self.call_with(permit, f, site).await),
                Err(Closed(())) => Err(Closed(f)),
            }
        }
    }

    /// As [`call`](Self::call), if there is room now. This function takes the permit; the future
    /// waits for the result.
    ///
    /// # Errors
    ///
    /// [`TrySendError`], with `f`.
    ///
    /// # Panics
    ///
    /// The future panics as [`ColorCell::call`] does.
    #[track_caller]
    pub fn try_call<R, F>(
        &self,
        f: F,
    ) -> Result<impl Future<Output = R> + Send + use<T, R, F>, TrySendError<F>>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        match self.limit.enter() {
            Ok(permit) => {
                let (site, cell) = (Location::caller(), self.clone());
                Ok(async move { cell.call_with(permit, f, site).await })
            }
            Err(refused) => Err(give_back(refused, f)),
        }
    }

    /// Waits for a permit, then schedules `f` as [`ColorCell::post`] does, and does not wait for
    /// it. From under the color itself the post waits for no permit.
    ///
    /// Cancel safe: a future that is dropped before it is ready has posted nothing, and leaves the
    /// line.
    ///
    /// # Errors
    ///
    /// [`Closed`], with `f`, if the limit is closed before there is a permit.
    ///
    /// # Panics
    ///
    /// As [`Limit::reserve`].
    #[track_caller]
    pub fn post<F: FnOnce(&mut T) + Send + 'static>(&self, f: F) -> Post<'_, T, F> {
        Post::new(self, f)
    }

    /// As [`post`](Self::post), if there is room now.
    ///
    /// # Errors
    ///
    /// [`TrySendError`], with `f`.
    pub fn try_post<F>(&self, f: F) -> Result<(), TrySendError<F>>
    where
        F: FnOnce(&mut T) + Send + 'static,
    {
        match self.limit.enter() {
            Ok(permit) => {
                self.post_with(permit, f);
                Ok(())
            }
            Err(refused) => Err(give_back(refused, f)),
        }
    }

    pub(super) fn post_with<F>(&self, permit: Permit, f: F)
    where
        F: FnOnce(&mut T) + Send + 'static,
    {
        let counted = CountedCall::new(f, permit.scheduled(true));
        self.cell.post(move |value| counted.run(value));
    }

    async fn call_with<R, F>(&self, permit: Permit, f: F, site: &'static Location<'static>) -> R
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        // A closure that runs at once has not waited, so it reads no clock.
        let mut idle = Some((permit, f));
        let at_once = port::call_now(&self.cell, |value| {
            let (permit, f) = idle.take().expect("run once");
            CountedCall::new(f, permit.record_immediate()).run(value)
        });
        match at_once {
            Ok(Ok(result)) => result,
            Ok(Err(in_use)) => panic!("the call of {self:?} at {site}: {in_use}"),
            Err(_) => {
                let (permit, f) = idle.take().expect("not run");
                self.posted_call(permit, f, site).await
            }
        }
    }

    async fn posted_call<R, F>(&self, permit: Permit, f: F, site: &'static Location<'static>) -> R
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        let item = permit.scheduled(false);
        let mut untold = item.key();
        let counted = CountedCall::new(f, item);
        let mut call = port::call_from(&self.cell, site, move |value| counted.run(value));
        poll_fn(|cx| {
            let polled = Pin::new(&mut call).poll(cx);
            if polled.is_pending()
                && let Some(key) = untold.take_if(|_| port::is_scheduled(&call))
            {
                self.limit.inner.semaphore.items().set(key, true);
                self.limit.inner.stir();
            }
            polled
        })
        .await
    }
}

impl<T: Send + 'static> Clone for LimitedCell<T> {
    fn clone(&self) -> Self {
        Self { cell: self.cell.clone(), limit: self.limit.clone() }
    }
}

impl<T: Send + 'static> fmt::Debug for LimitedCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedCell").field("limit", &self.limit).finish_non_exhaustive()
    }
}
