//! [`Several`]: the values of a row of cells; and [`shared()`], to only read them.

mod row;
mod shared;

pub use self::row::{Many, Row};
pub use self::shared::shared;

use self::row::distinct;
use super::set::{Cells, Sealed, Set};
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

impl<C> Slice<C> {
    fn new(cells: C) -> Self {
        Self(cells)
    }
}

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

    fn twice(&self) -> Option<(usize, usize)> {
        None
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
                Slice::new(self)
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
