//! Sets of cells: the argument of [`when`](fn@super::when), and the arguments of its closure.

mod element;
mod tuple;

pub use self::element::{Element, Part, Reach, Reads, Writes};
pub use self::tuple::Tuple;

use super::{ColorCell, InUse};
use crate::kernel::lane::behavior::Claim;
use crate::kernel::lane::behavior::request::Request;

/// Several cells: tuples of one to eight of `&ColorCell<T>` and
/// [`cell.shared()`](ColorCell::shared); and slices, arrays and `Vec`s of `ColorCell<T>` or of
/// `&ColorCell<T>`, by reference or by value, or the same inside [`shared`](super::shared).
///
/// For a tuple, the closure `F` gets a `&mut T` for each element, or a `&T` for a shared element.
/// For the other sets it gets one [`Several`](super::Several), or inside `shared` a
/// `&Several`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no set of cells that `when` could hand to this closure",
    label = "wants a tuple of one to eight `&ColorCell<T>` or `cell.shared()`, with a closure of as many \
             arguments; or a slice, an array or a `Vec` of `ColorCell<T>` or `&ColorCell<T>`, with a \
             closure of one"
)]
pub trait Cells<F, R>: Sized {
    /// The set as a type of its own.
    #[doc(hidden)]
    type Set: Set<F, R>;

    #[doc(hidden)]
    fn into_set(self) -> Self::Set;
}

mod sealed {
    /// Implemented only by types of this crate. The code that runs a closure with the values of a
    /// set relies on the set: it must name the same cells each time, and all of them.
    #[expect(unnameable_types, reason = "nobody else may implement what has this as a supertrait")]
    pub trait Sealed {}
}

pub(super) use self::sealed::Sealed;

/// A set of cells.
#[doc(hidden)]
pub trait Set<F, R>: Sealed {
    /// The same set, with clones of its cells.
    type Kept: Set<F, R> + Send + 'static;
    /// The requirements on each cell's lane.
    type Wants: AsMut<[Request]>;
    /// Claims for all lanes that the set may need.
    type Claims: AsMut<[Claim]> + AsRef<[Claim]>;

    fn keep(self) -> Self::Kept;
    fn wants(&self) -> Self::Wants;
    fn claims(wants: &[Request]) -> Self::Claims;

    /// The requirement on the first cell that is not shared. The closure runs under the color of
    /// that cell.
    fn color(&self) -> Option<Request>;

    /// Two places of one cell, of which at least one changes it.
    fn twice(&self) -> Option<(usize, usize)>;

    /// Runs the closure, unless a cell is in use.
    ///
    /// # Safety
    ///
    /// This thread holds all lanes; where a lane is wanted only as shared, it may be counted in as
    /// a reader instead. It holds each lane for which `own` returns true.
    unsafe fn run(&self, own: impl Fn(Request) -> bool, f: F) -> Result<R, InUse>;
}

/// A cell, or a row of cells, that the closure of a [`when`](fn@super::when) only reads, in parallel
/// with other readers: see [`ColorCell::shared`] and [`shared`](super::shared).
#[derive(Clone, Copy, Debug)]
pub struct Shared<C>(pub(super) C);

impl<C> Sealed for Shared<C> {}

impl<T: Send + Sync + 'static> ColorCell<T> {
    /// Shares the cell inside a [`when`](fn@super::when): the closure gets a `&T`, and runs in
    /// parallel with other readers, as with [`ColorCell::read`].
    ///
    /// ```
    /// # use colored_core::{ColorCell, when};
    /// # async fn example(account: ColorCell<i64>, rate: ColorCell<i64>) {
    /// when((&account, rate.shared()), |account, rate| *account += *account * *rate / 100).await;
    /// # }
    /// ```
    #[must_use]
    pub fn shared(&self) -> Shared<&Self> {
        Shared(self)
    }
}
