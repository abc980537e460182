//! Sets of cells: what [`when`](fn@super::when) takes, and what its closure gets.

use super::{ColorCell, InUse};
use crate::lane::claim::Claim;
use crate::lane::want::{Mode, Want};
use std::fmt;
use std::ptr;

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

/// A set of cells.
#[doc(hidden)]
pub trait Set<F, R> {
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

/// A cell, as an element of a tuple wants it.
#[doc(hidden)]
pub trait Part: Send + 'static {
    /// What the closure gets.
    type Access<'a>;

    fn want(&self) -> Want;

    /// Which cell it is.
    fn id(&self) -> *const ();

    /// Hands the value to `f`, unless it is in use.
    ///
    /// # Safety
    ///
    /// `reach` says how this thread has the lane; `f` keeps nothing of what it gets.
    unsafe fn with<'a, R>(
        &'a self,
        reach: impl FnOnce() -> Reach,
        f: impl FnOnce(Self::Access<'a>) -> Result<R, InUse>,
    ) -> Result<R, InUse>;
}

/// How an element of a set gets at its value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This thread holds the lane: other accesses from under the color are to be refused.
    Alone,
    /// This thread is counted in as a reader, and nothing but that is wanted.
    Beside,
    /// An earlier element is the same cell, and both only look.
    Again,
}

/// An element of a tuple.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no cell that `when` could take in a tuple",
    label = "each element is a `&ColorCell<T>` or a `cell.shared()`",
    note = "a `BoundedCell` has its `ColorCell` by `cell()`, which `when` takes while one has a place"
)]
pub trait Element {
    type Part: Part + Element<Part = Self::Part>;

    fn part(&self) -> &Self::Part;
    /// A clone.
    fn keep(self) -> Self::Part;
}

/// A cell whose value the closure changes.
#[doc(hidden)]
#[repr(transparent)]
pub struct Writes<T: Send + 'static>(ColorCell<T>);

/// A cell whose value the closure only looks at.
#[doc(hidden)]
#[repr(transparent)]
pub struct Reads<T: Send + Sync + 'static>(ColorCell<T>);

impl<T: Send + 'static> Element for &ColorCell<T> {
    type Part = Writes<T>;

    fn part(&self) -> &Writes<T> {
        // SAFETY: the same thing, under another name.
        unsafe { &*ptr::from_ref(*self).cast() }
    }

    fn keep(self) -> Writes<T> {
        Writes(self.clone())
    }
}

impl<T: Send + Sync + 'static> Element for Shared<'_, T> {
    type Part = Reads<T>;

    fn part(&self) -> &Reads<T> {
        // SAFETY: the same thing, under another name.
        unsafe { &*ptr::from_ref(self.0).cast() }
    }

    fn keep(self) -> Reads<T> {
        Reads(self.0.clone())
    }
}

impl<T: Send + 'static> Element for Writes<T> {
    type Part = Self;

    fn part(&self) -> &Self {
        self
    }

    fn keep(self) -> Self {
        self
    }
}

impl<T: Send + Sync + 'static> Element for Reads<T> {
    type Part = Self;

    fn part(&self) -> &Self {
        self
    }

    fn keep(self) -> Self {
        self
    }
}

impl<T: Send + 'static> Part for Writes<T> {
    type Access<'a> = &'a mut T;

    fn want(&self) -> Want {
        Want::new(self.0.inner.lane(), Mode::Exclusive)
    }

    fn id(&self) -> *const () {
        self.0.id()
    }

    unsafe fn with<'a, R>(
        &'a self,
        _alone: impl FnOnce() -> Reach,
        f: impl FnOnce(&'a mut T) -> Result<R, InUse>,
    ) -> Result<R, InUse> {
        // SAFETY: this thread holds the lane.
        let _occupied = unsafe { self.0.inner.occupy() }?;
        self.0.inner.place().with_mut(|value| {
            // SAFETY: the holder alone reaches the value, and everything else is refused meanwhile.
            f(unsafe { &mut *value })
        })
    }
}

impl<T: Send + Sync + 'static> Part for Reads<T> {
    type Access<'a> = &'a T;

    fn want(&self) -> Want {
        Want::new(self.0.inner.lane(), Mode::Shared)
    }

    fn id(&self) -> *const () {
        self.0.id()
    }

    unsafe fn with<'a, R>(
        &'a self,
        reach: impl FnOnce() -> Reach,
        f: impl FnOnce(&'a T) -> Result<R, InUse>,
    ) -> Result<R, InUse> {
        let _occupied = match reach() {
            // SAFETY: this thread holds the lane.
            Reach::Alone => Some(unsafe { self.0.inner.occupy() }?),
            Reach::Beside => {
                self.0.inner.admits_readers()?;
                None
            }
            Reach::Again => None,
        };
        self.0.inner.place().with(|value| {
            // SAFETY: nobody changes the value: readers are inside, or this thread holds the lane
            // and everything else is refused.
            f(unsafe { &*value })
        })
    }
}

/// What a tuple has at each place: what is wanted of the lane, and which cell it is.
type Place = (Want, *const ());

/// Two places of one cell, at least one of which changes it.
fn twice(places: &[Place]) -> Option<(usize, usize)> {
    let clash = |one: Place, other: Place| {
        one.1 == other.1 && (one.0.is_exclusive() || other.0.is_exclusive())
    };
    (1..places.len()).find_map(|later| {
        let earlier = (0..later).find(|earlier| clash(places[*earlier], places[later]))?;
        Some((earlier, later))
    })
}

/// How the element at a place gets at its value.
fn reach(places: &[Place], index: usize, own: impl Fn(Want) -> bool) -> Reach {
    let (want, cell) = places[index];
    let taken = |other: &Place| other.0.is_exclusive() && other.0.is_of(want.lane());
    if places[..index].iter().any(|place| place.1 == cell) {
        Reach::Again
    } else if own(want) || places.iter().any(taken) {
        Reach::Alone
    } else {
        Reach::Beside
    }
}

/// Calls `$f` inside the accesses to all parts, the first one outermost.
macro_rules! nest {
    ($set:ident $f:ident $reach:ident [$($value:ident)*]) => {
        Ok($f($($value),*))
    };
    ($set:ident $f:ident $reach:ident [$($value:ident)*] $index:tt $this:ident $($rest:tt)*) => {{
        let rest = |$this| nest!($set $f $reach [$($value)* $this] $($rest)*);
        // SAFETY: by the contract of `Set::run`; the closure is generic over the time for which it
        // may use what it gets, and so cannot keep it.
        unsafe { $set.$index.with(|| $reach($index), rest) }
    }};
}

macro_rules! tuples {
    ($($count:literal: $(($index:tt $part:ident $this:ident))*;)*) => {$(
        impl<FN, RE, $($part: Element),*> Cells<FN, RE> for ($($part,)*)
        where
            FN: for<'a> FnOnce($(<$part::Part as Part>::Access<'a>),*) -> RE,
        {
            type Set = Tuple<Self>;

            fn into_set(self) -> Tuple<Self> {
                Tuple(self)
            }
        }

        impl<FN, RE, $($part: Element),*> Set<FN, RE> for Tuple<($($part,)*)>
        where
            FN: for<'a> FnOnce($(<$part::Part as Part>::Access<'a>),*) -> RE,
        {
            type Kept = Tuple<($($part::Part,)*)>;
            type Wants = [Want; $count];
            type Claims = [Claim; $count];

            fn keep(self) -> Self::Kept {
                Tuple(($(self.0.$index.keep(),)*))
            }

            fn wants(&self) -> [Want; $count] {
                [$(self.0.$index.part().want()),*]
            }

            fn claims(wants: &[Want]) -> [Claim; $count] {
                std::array::from_fn(|index| Claim::new(wants.get(index).copied()))
            }

            fn color(&self) -> Option<Want> {
                [$(self.0.$index.part().want()),*].into_iter().find(|want| want.is_exclusive())
            }

            fn twice(&self) -> Option<(usize, usize)> {
                twice(&[$((self.0.$index.part().want(), self.0.$index.part().id())),*])
            }

            unsafe fn run(&self, own: impl Fn(Want) -> bool, f: FN) -> Result<RE, InUse> {
                let set = ($(self.0.$index.part(),)*);
                let places = [$((set.$index.want(), set.$index.id())),*];
                let reach = |index| reach(&places, index, &own);
                nest!(set f reach [] $($index $this)*)
            }
        }
    )*};
}

/// A tuple of elements.
#[doc(hidden)]
pub struct Tuple<P>(P);

tuples! {
    1: (0 A a);
    2: (0 A a) (1 B b);
    3: (0 A a) (1 B b) (2 C c);
    4: (0 A a) (1 B b) (2 C c) (3 D d);
    5: (0 A a) (1 B b) (2 C c) (3 D d) (4 E e);
    6: (0 A a) (1 B b) (2 C c) (3 D d) (4 E e) (5 F f_);
    7: (0 A a) (1 B b) (2 C c) (3 D d) (4 E e) (5 F f_) (6 G g);
    8: (0 A a) (1 B b) (2 C c) (3 D d) (4 E e) (5 F f_) (6 G g) (7 H h);
}
