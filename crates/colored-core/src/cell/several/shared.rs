//! [`shared`]: several cells to read, whose number is known only at run time.

use super::row::{Many, Row, distinct};
use crate::cell::set::{Cells, Sealed, Set};
use crate::cell::{ColorCell, InUse};
use crate::lane::behavior::Claim;
use crate::lane::behavior::request::{Mode, Request};
use std::fmt;
use std::ops::Index;

/// Shares several cells of one type inside a [`when`](fn@crate::when): the closure reads their
/// values, in parallel with other readers. It gets one [`SeveralShared`].
///
/// The cells are a slice, an array or a `Vec` of `ColorCell<T>`, or of `&ColorCell<T>`, as for
/// `when` itself. The closure sees all of them at one moment, at which nothing changes any of them.
/// The rules of [`ColorCell::read`] hold for each color: readers run in parallel, and keep their
/// order with writers.
///
/// ```
/// # use colored_core::{ColorCell, shared, when};
/// # async fn example(accounts: &[ColorCell<i64>], chosen: &[usize]) {
/// // All of them, at one moment, in parallel with other readers.
/// let sum: i64 = when(shared(accounts), |accounts| accounts.iter().sum()).await;
/// // A choice of them.
/// let some: Vec<_> = chosen.iter().map(|number| &accounts[*number]).collect();
/// let values: Vec<i64> = when(shared(&some), |some| some.iter().copied().collect()).await;
/// # }
/// ```
///
/// Costs as much as a `when`, with three exchanges for each color instead of two. It pays for many
/// readers of the same cells, or for long reads. A closure of a few nanoseconds is cheaper without
/// it.
#[must_use = "it says how `when` takes the cells"]
pub fn shared<C: Many>(cells: C) -> AllShared<C>
where
    C::Value: Sync,
{
    AllShared(cells)
}

/// The result of [`shared`]: a set of cells for [`when`](fn@crate::when).
#[derive(Clone, Copy)]
pub struct AllShared<C>(C);

impl<C: Many> fmt::Debug for AllShared<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.row().iter()).finish()
    }
}

/// The values of several cells, to read, inside a [`when`](fn@crate::when) over
/// [`shared`](shared()) cells, indexed by the places of their cells. A cell may be at several
/// places.
pub struct SeveralShared<'a, T: Send + Sync + 'static>(Row<'a, T>);

impl<T: Send + Sync + 'static> SeveralShared<'_, T> {
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> + DoubleEndedIterator {
        (0..self.len()).map(|index| &self[index])
    }
}

impl<T: Send + Sync + 'static> Index<usize> for SeveralShared<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: usize) -> &T {
        self.0.at(index).inner.place().with(|value| {
            // SAFETY: while this closure runs, readers are inside, or this thread holds the lane and
            // all other accesses are refused (`Set::run`): no thread changes the value.
            unsafe { &*value }
        })
    }
}

impl<T: Send + Sync + fmt::Debug + 'static> fmt::Debug for SeveralShared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<C: Many, F, R> Cells<F, R> for AllShared<C>
where
    C::Value: Sync,
    F: for<'a> FnOnce(SeveralShared<'a, C::Value>) -> R,
{
    type Set = Self;

    fn into_set(self) -> Self {
        self
    }
}

impl<C> Sealed for AllShared<C> {}

impl<C: Many, F, R> Set<F, R> for AllShared<C>
where
    C::Value: Sync,
    F: for<'a> FnOnce(SeveralShared<'a, C::Value>) -> R,
{
    type Kept = AllShared<Box<[ColorCell<C::Value>]>>;
    type Wants = Vec<Request>;
    type Claims = Box<[Claim]>;

    fn keep(self) -> Self::Kept {
        AllShared(self.0.keep())
    }

    fn wants(&self) -> Vec<Request> {
        self.0.row().wants(Mode::Shared)
    }

    fn claims(wants: &[Request]) -> Box<[Claim]> {
        wants.iter().map(|want| Claim::new(Some(*want))).collect()
    }

    fn color(&self) -> Option<Request> {
        None
    }

    fn twice(&self) -> Option<(usize, usize)> {
        None
    }

    unsafe fn run(&self, own: impl Fn(Request) -> bool, f: F) -> Result<R, InUse> {
        let row = self.0.row();
        let is_own = |cell: &ColorCell<_>| own(Request::new(cell.inner.lane(), Mode::Shared));
        let held = distinct(row.iter().filter(|cell| is_own(cell))).into_iter();
        // SAFETY: `own` is true only of lanes that this thread holds, up to the end of this call.
        let occupied = held.map(|cell| unsafe { cell.inner.occupy() });
        let _occupied: Vec<_> = occupied.collect::<Result<_, _>>()?;
        let mut beside = row.iter().filter(|cell| !is_own(cell));
        beside.try_for_each(|cell| cell.inner.admits_readers())?;
        Ok(f(SeveralShared(row)))
    }
}
