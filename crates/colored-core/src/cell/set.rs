//! Sets of cells: what [`when`](fn@super::when) takes, and what its closure gets.

mod element;
mod tuple;

pub use self::element::{Element, Part, Reach, Reads, Writes};
pub use self::tuple::Tuple;

use super::{ColorCell, InUse};
use crate::lane::claim::Claim;
use crate::lane::want::Want;
use std::fmt;

/// Several cells: tuples of one to eight of `&ColorCell<T>` and
/// [`cell.shared()`](ColorCell::shared); and slices, arrays and `Vec`s of `ColorCell<T>` or of
/// `&ColorCell<T>`, by reference or by value, or the same inside [`shared`](super::shared).
///
/// The closure `F` gets for each element of a tuple a `&mut T`, or a `&T` of what is shared; for
/// the others one [`Several`](super::Several) or [`SeveralShared`](super::SeveralShared).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no set of cells that `when` could hand to this closure",
    label = "wants a tuple of one to eight `&ColorCell<T>` or `cell.shared()`, with a closure of as many \
             arguments; or a slice, an array or a `Vec` of `ColorCell<T>` or `&ColorCell<T>`, with a \
             closure of one"
)]
pub trait Cells<F, R>: Sized {
    /// The set, by itself.
    #[doc(hidden)]
    type Set: Set<F, R>;

    #[doc(hidden)]
    fn into_set(self) -> Self::Set;
}

mod sealed {
    /// For the types of this crate only. What runs a closure with the values of a set relies on what the
    /// set says of itself: that it names the same cells each time, and all of them.
    #[expect(unnameable_types, reason = "nobody else may implement what has this as a supertrait")]
    pub trait Sealed {}
}

pub(super) use self::sealed::Sealed;

/// A set of cells.
#[doc(hidden)]
pub trait Set<F, R>: Sealed {
    /// The same set, with clones of its cells.
    type Kept: Set<F, R> + Send + 'static;
    /// What is wanted of each cell's lane.
    type Wants: AsMut<[Want]>;
    /// Claims for all that may be wanted.
    type Claims: AsMut<[Claim]> + AsRef<[Claim]>;

    fn keep(self) -> Self::Kept;
    fn wants(&self) -> Self::Wants;
    fn claims(wants: &[Want]) -> Self::Claims;

    /// What is wanted of the first cell that is not shared: the closure runs under its color.
    fn color(&self) -> Option<Want>;

    /// Two places of one cell, at least one of which changes it.
    fn twice(&self) -> Option<(usize, usize)>;

    /// Runs the closure, unless a cell is in use.
    ///
    /// # Safety
    ///
    /// This thread holds all lanes, or is counted in where all that is wanted is shared. Those that
    /// `own` says yes to it holds in any case.
    unsafe fn run(&self, own: impl Fn(Want) -> bool, f: F) -> Result<R, InUse>;
}

/// A cell of which the closure of a [`when`](fn@super::when) only wants to look at the value,
/// beside others who only look: see [`ColorCell::shared`].
#[derive(Clone, Copy)]
pub struct Shared<'a, T: Send + Sync + 'static>(&'a ColorCell<T>);

impl<T: Send + Sync + 'static> ColorCell<T> {
    /// The cell, shared: inside a [`when`](fn@super::when) the closure gets a `&T`, and runs in
    /// parallel with others who only look, as with [`ColorCell::read`].
    ///
    /// ```
    /// # use colored_core::{ColorCell, when};
    /// # async fn example(account: ColorCell<i64>, rate: ColorCell<i64>) {
    /// when((&account, rate.shared()), |account, rate| *account += *account * *rate / 100).await;
    /// # }
    /// ```
    #[must_use]
    pub fn shared(&self) -> Shared<'_, T> {
        Shared(self)
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for Shared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(self.0).finish()
    }
}
