//! [`BoundedCell`]: a cell that does not take more than its color can do.

use super::Bound;
use super::admit::{Post, Reserve};
use super::error::{Closed, TrySendError};
use super::place::{Place, Turn};
use crate::cell::{AccessError, ColorCell};
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;

/// A [`ColorCell`] whose calls and posts are admitted by a [`Bound`]; from [`Bound::cell`].
///
/// A call or post has its place until its closure has run or been dropped. Clones share the value
/// and the bound. Everything else is as for a `ColorCell`: order, panics, the end of the value.
///
/// Here `try_` means *if there is room now*; an error in place of a panic, as by
/// [`ColorCell::try_call`], and reading, sections and `when` are had by [`cell`](Self::cell), with a
/// [`Place`] in hands.
///
/// ```
/// # use colored_core::{Bound, Color, TrySendError};
/// # use colored_core::{Park, Scheduler, Step};
/// # struct NoPark;
/// # impl Park for NoPark { fn unpark(&self, _: usize) {} fn now(&self) -> u64 { 0 } }
/// # let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
/// # let _entered = handle.enter();
/// let log = Bound::new(Color::named("log"), 2).cell(Vec::new());
/// assert!(log.try_post(|log| log.push("one")).is_ok());
/// assert!(log.try_post(|log| log.push("two")).is_ok());
/// // The color has not run: two are inside.
/// let Err(TrySendError::Full(_shed)) = log.try_post(|log| log.push("three")) else { panic!() };
/// # while workers[0].step() == Step::Ran {}
/// assert_eq!(log.bound().depth(), 0);
/// ```
pub struct BoundedCell<T: Send + 'static> {
    cell: ColorCell<T>,
    bound: Bound,
}

impl<T: Send + 'static> BoundedCell<T> {
    #[track_caller]
    pub(super) fn new(bound: Bound, value: T) -> Self {
        Self { cell: ColorCell::on_lane(bound.inner.lane.clone(), value), bound }
    }

    /// What admits to the cell.
    #[must_use]
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The cell by itself: for what has no bounded form, with a [`Place`] in hands while it is under
    /// way. What goes past the bound without one is not counted.
    ///
    /// ```
    /// use colored_core::{BoundedCell, Closed, ColorCell, when};
    ///
    /// async fn sum(stock: &BoundedCell<Vec<u64>>) -> Result<u64, Closed<()>> {
    ///     let _place = stock.bound().reserve().await?; // room, for as long as it is kept
    ///     Ok(stock.cell().read(|stock| stock.iter().sum()).await)
    /// }
    ///
    /// async fn take(stock: &BoundedCell<Vec<u64>>, sold: &ColorCell<u64>) -> Result<(), Closed<()>> {
    ///     let _place = stock.bound().reserve().await?;
    ///     when((stock.cell(), sold), |stock, sold| *sold += stock.pop().unwrap_or(0)).await;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// While somebody has a place in hands, waits for room are not diagnosed: there may be room any time.
    #[must_use]
    pub fn cell(&self) -> &ColorCell<T> {
        &self.cell
    }

    /// Uses the value, from inside its color: it needs no place.
    ///
    /// # Panics
    ///
    /// As [`ColorCell::with`].
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.cell.with(f)
    }

    /// Uses the value, from inside its color: it needs no place.
    ///
    /// # Errors
    ///
    /// As [`ColorCell::try_with`].
    pub fn try_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, AccessError> {
        self.cell.try_with(f)
    }

    /// Waits for a place, then uses the value under its color, as [`ColorCell::call`] does: at once
    /// if the color is idle, or the caller's own. From under the color itself it waits for no place.
    ///
    /// Cancel safe: dropped before it has a place, it leaves the line; afterwards it is as
    /// `ColorCell::call`.
    ///
    /// # Errors
    ///
    /// [`Closed`], with `f`, if the bound is closed before there is a place.
    ///
    /// # Panics
    ///
    /// As [`ColorCell::call`], and as [`Bound::reserve`]. With a place of [`Bound::try_wait`] in hands,
    /// [`cell`](Self::cell) has [`ColorCell::try_call`].
    #[track_caller]
    pub fn call<R, F>(
        &self,
        f: F,
    ) -> impl Future<Output = Result<R, Closed<F>>> + Send + use<'_, T, R, F>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        let (site, reserve): (_, Reserve<'_>) = (Location::caller(), self.bound.reserve());
        async move {
            match reserve.await {
                Ok(place) => Ok(self.call_with(place, f, site).await),
                Err(Closed(())) => Err(Closed(f)),
            }
        }
    }

    /// As [`call`](Self::call), if there is room now. The place is taken here; the future waits for
    /// the result.
    ///
    /// # Errors
    ///
    /// [`TrySendError`], with `f`.
    ///
    /// # Panics
    ///
    /// The future does, as [`ColorCell::call`].
    #[track_caller]
    pub fn try_call<R, F>(
        &self,
        f: F,
    ) -> Result<impl Future<Output = R> + Send + use<T, R, F>, TrySendError<F>>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        match self.bound.enter() {
            Ok(place) => {
                let (site, cell) = (Location::caller(), self.clone());
                Ok(async move { cell.call_with(place, f, site).await })
            }
            Err(refused) => Err(refused.with(f)),
        }
    }

    /// Waits for a place, then schedules `f` as [`ColorCell::post`] does, and does not wait for it.
    /// From under the color itself it waits for no place.
    ///
    /// Cancel safe: dropped before it is ready, it has posted nothing, and leaves the line.
    ///
    /// # Errors
    ///
    /// [`Closed`], with `f`, if the bound is closed before there is a place.
    ///
    /// # Panics
    ///
    /// As [`Bound::reserve`].
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
        match self.bound.enter() {
            Ok(place) => {
                self.post_with(place, f);
                Ok(())
            }
            Err(refused) => Err(refused.with(f)),
        }
    }

    pub(super) fn post_with<F>(&self, place: Place, f: F)
    where
        F: FnOnce(&mut T) + Send + 'static,
    {
        let turn = Turn::new(f, place.scheduled(true));
        self.cell.post(move |value| turn.run(value));
    }

    async fn call_with<R, F>(&self, place: Place, f: F, site: &'static Location<'static>) -> R
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        // What runs at once has not waited, and no clock is read.
        let mut idle = Some((place, f));
        let at_once = self.cell.call_now(|value| {
            let (place, f) = idle.take().expect("run once");
            Turn::new(f, place.begins_at_once()).run(value)
        });
        match at_once {
            Ok(Ok(result)) => result,
            Ok(Err(in_use)) => panic!("the call of {self:?} at {site}: {in_use}"),
            Err(_) => {
                let (place, f) = idle.take().expect("not run");
                self.posted_call(place, f, site).await
            }
        }
    }

    async fn posted_call<R, F>(&self, place: Place, f: F, site: &'static Location<'static>) -> R
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        let item = place.scheduled(false);
        let mut untold = item.key();
        let turn = Turn::new(f, item);
        let mut call = self.cell.call_from(site, move |value| turn.run(value));
        poll_fn(|cx| {
            let polled = Pin::new(&mut call).poll(cx);
            if polled.is_pending()
                && let Some(key) = untold.take_if(|_| call.is_scheduled())
            {
                self.bound.inner.gate.homes().set(key, true);
                self.bound.inner.has_changed();
            }
            polled
        })
        .await
    }
}

impl<T: Send + 'static> Clone for BoundedCell<T> {
    fn clone(&self) -> Self {
        Self { cell: self.cell.clone(), bound: self.bound.clone() }
    }
}

impl<T: Send + 'static> fmt::Debug for BoundedCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedCell").field("bound", &self.bound).finish_non_exhaustive()
    }
}
