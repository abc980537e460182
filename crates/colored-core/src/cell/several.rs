//! [`Several`]: the values of a slice of cells.

use super::ColorCell;
use super::set::{Cells, Set, occupy};
use crate::lane::claim::Claim;
use crate::lane::want::{Mode, Want};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The values of several cells of one type, inside a [`when`](fn@super::when) over a slice, an
/// array or a `Vec`: by the places of their cells.
///
/// A cell may be at several places. They are the same value then, and so only one value at a time
/// can be borrowed to be changed.
///
/// ```
/// # use colored_core::{ColorCell, when};
/// # async fn example(accounts: Vec<ColorCell<i64>>, from: usize, to: usize) {
/// when(&accounts, move |mut accounts| {
///     accounts[from] -= 5;
///     accounts[to] += 5; // also if it is the same account
/// })
/// .await;
/// # }
/// ```
pub struct Several<'a, T: Send + 'static> {
    cells: &'a [ColorCell<T>],
    /// As if it borrowed the values to change them: it cannot leave this thread if they cannot.
    values: PhantomData<&'a mut T>,
}

impl<'a, T: Send + 'static> Several<'a, T> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// All values, to be looked at.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> + DoubleEndedIterator {
        (0..self.len()).map(|index| &self[index])
    }
}

impl<T: Send + 'static> Index<usize> for Several<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: usize) -> &T {
        self.cells[index].inner.place().with(|value| {
            // SAFETY: all cells are this closure's while it runs (`Set::run`), and the only way to
            // a value that can be changed borrows `self` for itself.
            unsafe { &*value }
        })
    }
}

impl<T: Send + 'static> IndexMut<usize> for Several<'_, T> {
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.cells[index].inner.place().with_mut(|value| {
            // SAFETY: as above, and `self` is borrowed for this value alone, also if another place
            // is of the same cell.
            unsafe { &mut *value }
        })
    }
}

impl<T: Send + fmt::Debug + 'static> fmt::Debug for Several<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A slice of cells, or what has one.
#[doc(hidden)]
pub struct Slice<C>(C);

/// What has a slice of cells.
#[doc(hidden)]
pub trait Many {
    type Value: Send + 'static;

    fn cells(&self) -> &[ColorCell<Self::Value>];
    /// Clones, unless they are its own.
    fn keep(self) -> Box<[ColorCell<Self::Value>]>;
}

macro_rules! slices {
    ($([$($generics:tt)*] $cells:ty, $keep:expr;)*) => {$(
        impl<T: Send + 'static, $($generics)*> Many for $cells {
            type Value = T;

            fn cells(&self) -> &[ColorCell<T>] {
                &self[..]
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

slices! {
    [] &[ColorCell<T>], |cells| cells.into();
    [] &Vec<ColorCell<T>>, |cells| cells.as_slice().into();
    [const N: usize] &[ColorCell<T>; N], |cells| cells.as_slice().into();
    [] Vec<ColorCell<T>>, |cells| cells.into();
    [] Box<[ColorCell<T>]>, |cells| cells;
    [const N: usize] [ColorCell<T>; N], |cells| cells.into();
}

impl<C: Many, F, R> Set<F, R> for Slice<C>
where
    F: for<'a> FnOnce(Several<'a, C::Value>) -> R,
{
    type Kept = Slice<Box<[ColorCell<C::Value>]>>;
    type Wants = Vec<Want>;
    type Claims = Box<[Claim]>;

    fn keep(self) -> Self::Kept {
        Slice(self.0.keep())
    }

    fn wants(&self) -> Vec<Want> {
        self.0.cells().iter().map(|cell| Want::new(cell.inner.lane(), Mode::Exclusive)).collect()
    }

    fn claims(wants: &[Want]) -> Box<[Claim]> {
        wants.iter().map(|want| Claim::new(Some(*want))).collect()
    }

    fn color(&self) -> Option<Want> {
        self.0.cells().first().map(|cell| Want::new(cell.inner.lane(), Mode::Exclusive))
    }

    fn twice(&self) -> Option<(usize, usize)> {
        None
    }

    unsafe fn run(&self, _own: impl Fn(Want) -> bool, f: F) -> R {
        let mut each: Vec<_> = self.0.cells().iter().collect();
        each.sort_unstable_by_key(|cell| cell.id());
        each.dedup_by_key(|cell| cell.id());
        // SAFETY: this thread holds all lanes up to the end of this call.
        let _occupied: Vec<_> = each.into_iter().map(|cell| unsafe { occupy(cell) }).collect();
        f(Several { cells: self.0.cells(), values: PhantomData })
    }
}
