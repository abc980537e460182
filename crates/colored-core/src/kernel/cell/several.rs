//! [`Several`]: the values of a row of cells, whose number is known only at run time; and [`shared()`], to only read them.

use super::set::{Cells, Sealed, Set, Shared};
use super::{ColorCell, InUse};
use crate::kernel::lane::behavior::Claim;
use crate::kernel::lane::behavior::request::{Mode, Request};
use std::fmt;
use std::iter::{self, Map, Repeat, Zip};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

/// The values of several cells of one type, inside a [`when`](fn@super::when) over a slice, an
/// array or a `Vec`, indexed by the places of their cells. Inside [`shared`](shared()) the closure
/// gets a `&Several`, and only reads.
///
/// A cell may be at several places, which then share one value. So only one value at a time can be
/// borrowed mutably.
///
/// ```
/// # use colored_core::{ColorCell, when};
/// # async fn example(accounts: Vec<ColorCell<i64>>, from: usize, to: usize) {
/// when(&accounts, move |mut accounts| {
///     accounts[from] -= 5;
///     accounts[to] += 5; // also if it is the same account
/// })
/// .await;
///
/// when(&accounts, |accounts| {
///     for account in &accounts {
///         println!("{account}");
///     }
/// })
/// .await;
/// # }
/// ```
pub struct Several<'a, T: Send + 'static> {
    row: Row<'a, T>,
    /// Acts as a mutable borrow of the values, so that the type is `Send` only if they are.
    values: PhantomData<&'a mut T>,
}

impl<T: Send + 'static> Several<'_, T> {
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values, by shared reference.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> + DoubleEndedIterator {
        (0..self.len()).map(|index| &self[index])
    }
}

impl<T: Send + 'static> Index<usize> for Several<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: usize) -> &T {
        self.row.at(index).inner.place().with(|value| {
            // SAFETY: all cells are this closure's while it runs (`Set::run`), and the only way to
            // a value that can be changed borrows `self` for itself. The closure of a `shared` set
            // never owns `self`; while it runs, readers are inside, or this thread holds the lane
            // and all other accesses are refused: no thread changes the value.
            unsafe { &*value }
        })
    }
}

impl<T: Send + 'static> IndexMut<usize> for Several<'_, T> {
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.row.at(index).inner.place().with_mut(|value| {
            // SAFETY: a closure that has `&mut self` is of a set that is not `shared`, so all cells are
            // this closure's while it runs (`Set::run`), and `self` is borrowed for this value
            // alone, also if another place is of the same cell.
            unsafe { &mut *value }
        })
    }
}

/// The values in the order of their places, by shared reference; as [`Several::iter`].
impl<'s, 'a, T: Send + 'static> IntoIterator for &'s Several<'a, T> {
    type Item = &'s T;
    type IntoIter = Map<Zip<Repeat<Self>, Range<usize>>, fn((Self, usize)) -> &'s T>;

    fn into_iter(self) -> Self::IntoIter {
        iter::repeat(self).zip(0..self.len()).map(|(values, index)| &values[index])
    }
}

impl<T: Send + fmt::Debug + 'static> fmt::Debug for Several<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A row of cells whose values the closure changes.
#[doc(hidden)]
pub struct Slice<C>(C);

impl<C> Sealed for Slice<C> {}

impl<C: Many, F, R> Set<F, R> for Slice<C>
where
    F: for<'a> FnOnce(Several<'a, C::Value>) -> R,
{
    type Kept = Slice<Box<[ColorCell<C::Value>]>>;
    type Wants = Vec<Request>;
    type Claims = Box<[Claim]>;

    fn keep(self) -> Self::Kept {
        Slice(self.0.keep())
    }

    fn wants(&self) -> Vec<Request> {
        self.0.row().wants(Mode::Exclusive)
    }

    fn claims(wants: &[Request]) -> Box<[Claim]> {
        wants.iter().map(|want| Claim::new(Some(*want))).collect()
    }

    fn color(&self) -> Option<Request> {
        self.0.row().iter().next().map(|cell| Request::new(cell.inner.lane(), Mode::Exclusive))
    }

    unsafe fn run(&self, _own: impl Fn(Request) -> bool, f: F) -> Result<R, InUse> {
        let (row, values) = (self.0.row(), PhantomData);
        let each = distinct(row.iter()).into_iter();
        // SAFETY: every part wants its lane exclusively, so this thread holds all lanes up to the
        // end of this call.
        let occupied = each.map(|cell| unsafe { cell.inner.occupy() });
        let _occupied: Vec<_> = occupied.collect::<Result<_, _>>()?;
        Ok(f(Several { row, values }))
    }
}

macro_rules! rows {
    ($($kind:ident [$($generics:tt)*] $cells:ty, $keep:expr;)*) => {$(
        impl<T: Send + 'static, $($generics)*> Sealed for $cells {}

        impl<T: Send + 'static, $($generics)*> Many for $cells {
            type Value = T;

            fn row(&self) -> Row<'_, T> {
                Row::$kind(&self[..])
            }

            fn keep(self) -> Box<[ColorCell<T>]> {
                let keep: fn(Self) -> Box<[ColorCell<T>]> = $keep;
                keep(self)
            }
        }

        impl<T: Send + 'static, F, R, $($generics)*> Cells<F, R> for $cells
        where
            F: for<'a> FnOnce(Several<'a, T>) -> R,
        {
            type Set = Slice<Self>;

            fn into_set(self) -> Slice<Self> {
                Slice(self)
            }
        }
    )*};
}

rows! {
    Cells [] &[ColorCell<T>], |cells| cells.into();
    Cells [] &Vec<ColorCell<T>>, |cells| cells.as_slice().into();
    Cells [const N: usize] &[ColorCell<T>; N], |cells| cells.as_slice().into();
    Cells [] Vec<ColorCell<T>>, |cells| cells.into();
    Cells [] Box<[ColorCell<T>]>, |cells| cells;
    Cells [const N: usize] [ColorCell<T>; N], |cells| cells.into();
    References [] &[&ColorCell<T>], |cells| cells.iter().copied().cloned().collect();
    References [] &Vec<&ColorCell<T>>, |cells| cells.iter().copied().cloned().collect();
    References [const N: usize] &[&ColorCell<T>; N], |cells| cells.iter().copied().cloned().collect();
    References [] Vec<&ColorCell<T>>, |cells| cells.into_iter().cloned().collect();
    References [const N: usize] [&ColorCell<T>; N], |cells| cells.into_iter().cloned().collect();
}

/// Cells by their places.
#[doc(hidden)]
pub enum Row<'a, T: Send + 'static> {
    Cells(&'a [ColorCell<T>]),
    References(&'a [&'a ColorCell<T>]),
}

impl<T: Send + 'static> Clone for Row<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + 'static> Copy for Row<'_, T> {}

impl<'a, T: Send + 'static> Row<'a, T> {
    fn len(self) -> usize {
        match self {
            Self::Cells(cells) => cells.len(),
            Self::References(cells) => cells.len(),
        }
    }

    #[track_caller]
    fn at(self, index: usize) -> &'a ColorCell<T> {
        match self {
            Self::Cells(cells) => &cells[index],
            Self::References(cells) => cells[index],
        }
    }

    fn iter(self) -> impl Iterator<Item = &'a ColorCell<T>> {
        (0..self.len()).map(move |index| self.at(index))
    }

    /// The requirements on the lanes.
    fn wants(self, mode: Mode) -> Vec<Request> {
        self.iter().map(|cell| Request::new(cell.inner.lane(), mode)).collect()
    }
}

/// Each of the cells once.
fn distinct<'a, T: Send + 'static>(
    cells: impl Iterator<Item = &'a ColorCell<T>>,
) -> Vec<&'a ColorCell<T>> {
    let mut each: Vec<_> = cells.collect();
    each.sort_unstable_by_key(|cell| cell.id());
    each.dedup_by_key(|cell| cell.id());
    each
}

/// Types with a row of cells.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no row of cells",
    label = "wants a slice, an array or a `Vec` of `ColorCell<T>` or of `&ColorCell<T>`"
)]
pub trait Many: Sealed {
    type Value: Send + 'static;

    fn row(&self) -> Row<'_, Self::Value>;
    /// Clones of the cells, or the cells themselves if the set owns them.
    fn keep(self) -> Box<[ColorCell<Self::Value>]>;
}

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
