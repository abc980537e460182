//! [`shared`]: several cells to read, whose number is known only at run time.

use super::Several;
use super::row::{Many, distinct};
use crate::kernel::cell::set::{Cells, Set, Shared};
use crate::kernel::cell::{ColorCell, InUse};
use crate::kernel::lane::behavior::Claim;
use crate::kernel::lane::behavior::request::{Mode, Request};
use std::marker::PhantomData;

/// Shares several cells of one type inside a [`when`](fn@crate::when): the closure reads their
/// values, in parallel with other readers. It gets a [`&Several`](Several).
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
pub fn shared<C: Many>(cells: C) -> Shared<C>
where
    C::Value: Sync,
{
    Shared(cells)
}

impl<C: Many, F, R> Cells<F, R> for Shared<C>
where
    C::Value: Sync,
    F: for<'a> FnOnce(&'a Several<'a, C::Value>) -> R,
{
    type Set = Self;

    fn into_set(self) -> Self {
        self
    }
}

impl<C: Many, F, R> Set<F, R> for Shared<C>
where
    C::Value: Sync,
    F: for<'a> FnOnce(&'a Several<'a, C::Value>) -> R,
{
    type Kept = Shared<Box<[ColorCell<C::Value>]>>;
    type Wants = Vec<Request>;
    type Claims = Box<[Claim]>;

    fn keep(self) -> Self::Kept {
        Shared(self.0.keep())
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
        Ok(f(&Several { row, values: PhantomData }))
    }
}
