//! [`Row`]: cells, or references to cells, one after another; and [`Many`], the types that have one.

use crate::kernel::cell::ColorCell;
use crate::kernel::cell::set::Sealed;
use crate::kernel::lane::behavior::request::{Mode, Request};

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
    pub(super) fn len(self) -> usize {
        match self {
            Self::Cells(cells) => cells.len(),
            Self::References(cells) => cells.len(),
        }
    }

    #[track_caller]
    pub(super) fn at(self, index: usize) -> &'a ColorCell<T> {
        match self {
            Self::Cells(cells) => &cells[index],
            Self::References(cells) => cells[index],
        }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = &'a ColorCell<T>> {
        (0..self.len()).map(move |index| self.at(index))
    }

    /// The requirements on the lanes.
    pub(super) fn wants(self, mode: Mode) -> Vec<Request> {
        self.iter().map(|cell| Request::new(cell.inner.lane(), mode)).collect()
    }
}

/// Each of the cells once.
pub(super) fn distinct<'a, T: Send + 'static>(
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
