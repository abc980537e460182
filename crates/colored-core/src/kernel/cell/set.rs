//! Sets of cells: the argument of [`when`](fn@super::when), and the arguments of its closure.
//!
//! An element says how the closure reaches the value of one cell once this thread has its lane. A closure of a tuple runs
//! inside the accesses to all of its elements, one to eight.

use super::{ColorCell, InUse};
use crate::kernel::lane::behavior::Claim;
use crate::kernel::lane::behavior::request::{Mode, Request};
use std::ptr;

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

    /// Two places of one cell, of which at least one changes it. A row may have a cell twice.
    fn twice(&self) -> Option<(usize, usize)> {
        None
    }

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

/// A cell, together with the access that an element of a tuple needs.
#[doc(hidden)]
pub trait Part: Sealed + Send + 'static {
    /// The argument of the closure.
    type Access<'a>;

    fn want(&self) -> Request;

    /// The identity of the cell.
    fn id(&self) -> *const ();

    /// Hands the value to `f`, unless it is in use.
    ///
    /// # Safety
    ///
    /// `reach` says how this thread has the lane; `f` keeps no part of its argument.
    unsafe fn with<'a, R>(
        &'a self,
        reach: impl FnOnce() -> Reach,
        f: impl FnOnce(Self::Access<'a>) -> Result<R, InUse>,
    ) -> Result<R, InUse>;
}

/// How an element of a set reaches its value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This thread holds the lane, and refuses other accesses from under the color.
    Alone,
    /// This thread is counted in as a reader, and needs no more than that.
    Beside,
    /// An earlier element is the same cell, and both only read.
    Again,
}

/// An element of a tuple.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no cell that `when` could take in a tuple",
    label = "each element is a `&ColorCell<T>` or a `cell.shared()`",
    note = "`LimitedCell::cell()` returns the `ColorCell`: hold a permit, and give that cell to `when`"
)]
pub trait Element: Sealed {
    type Part: Part + Element<Part = Self::Part>;

    fn part(&self) -> &Self::Part;
    /// A clone.
    fn keep(self) -> Self::Part;
}

/// A cell whose value the closure changes.
#[doc(hidden)]
#[repr(transparent)]
pub struct Writes<T: Send + 'static>(ColorCell<T>);

/// A cell whose value the closure only reads.
#[doc(hidden)]
#[repr(transparent)]
pub struct Reads<T: Send + Sync + 'static>(ColorCell<T>);

impl<T: Send + 'static> Sealed for &ColorCell<T> {}
impl<T: Send + 'static> Sealed for Writes<T> {}
impl<T: Send + Sync + 'static> Sealed for Reads<T> {}

impl<T: Send + 'static> Element for &ColorCell<T> {
    type Part = Writes<T>;

    fn part(&self) -> &Writes<T> {
        // SAFETY: the target type is a transparent wrapper of this one.
        unsafe { &*ptr::from_ref(*self).cast() }
    }

    fn keep(self) -> Writes<T> {
        Writes(self.clone())
    }
}

impl<T: Send + Sync + 'static> Element for Shared<&ColorCell<T>> {
    type Part = Reads<T>;

    fn part(&self) -> &Reads<T> {
        // SAFETY: the target type is a transparent wrapper of this one.
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

    fn want(&self) -> Request {
        Request::new(self.0.inner.lane(), Mode::Exclusive)
    }

    fn id(&self) -> *const () {
        self.0.id()
    }

    unsafe fn with<'a, R>(
        &'a self,
        _alone: impl FnOnce() -> Reach,
        f: impl FnOnce(&'a mut T) -> Result<R, InUse>,
    ) -> Result<R, InUse> {
        // SAFETY: a part that writes wants its lane exclusively, so this thread holds the lane
        // (`Set::run`).
        let _occupied = unsafe { self.0.inner.occupy() }?;
        self.0.inner.place().with_mut(|value| {
            // SAFETY: only the holder of the lane reaches the value, and all other accesses are
            // refused meanwhile.
            f(unsafe { &mut *value })
        })
    }
}

impl<T: Send + Sync + 'static> Part for Reads<T> {
    type Access<'a> = &'a T;

    fn want(&self) -> Request {
        Request::new(self.0.inner.lane(), Mode::Shared)
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
            // SAFETY: the answer `Alone` says that this thread holds the lane.
            Reach::Alone => Some(unsafe { self.0.inner.occupy() }?),
            Reach::Beside => {
                self.0.inner.admits_readers()?;
                None
            }
            Reach::Again => None,
        };
        self.0.inner.place().with(|value| {
            // SAFETY: no thread changes the value: readers are inside, or this thread holds the
            // lane and all other accesses are refused.
            f(unsafe { &*value })
        })
    }
}

/// A tuple of elements.
#[doc(hidden)]
pub struct Tuple<P>(P);

/// A place of a tuple: the requirement on the lane, and the address of the cell.
type Place = (Request, *const ());

/// Two places of one cell, of which at least one changes it.
#[inline]
fn twice(places: &[Place]) -> Option<(usize, usize)> {
    let clash = |one: Place, other: Place| {
        one.1 == other.1 && (one.0.is_exclusive() || other.0.is_exclusive())
    };
    (1..places.len()).find_map(|later| {
        let earlier = (0..later).find(|earlier| clash(places[*earlier], places[later]))?;
        Some((earlier, later))
    })
}

/// How the element at a place reaches its value.
fn reach(places: &[Place], index: usize, own: impl Fn(Request) -> bool) -> Reach {
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
impl<P> Sealed for Tuple<P> {}

macro_rules! nest {
    ($set:ident $f:ident $reach:ident [$($value:ident)*]) => {
        Ok($f($($value),*))
    };
    ($set:ident $f:ident $reach:ident [$($value:ident)*] $index:tt $this:ident $($rest:tt)*) => {{
        let rest = |$this| nest!($set $f $reach [$($value)* $this] $($rest)*);
        // SAFETY: the caller of `Set::run` promises the lanes, and `reach` says how this thread has
        // them; the closure is generic over the lifetime of its argument, and so cannot keep it.
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
            type Wants = [Request; $count];
            type Claims = [Claim; $count];

            fn keep(self) -> Self::Kept {
                Tuple(($(self.0.$index.keep(),)*))
            }

            fn wants(&self) -> [Request; $count] {
                [$(self.0.$index.part().want()),*]
            }

            fn claims(wants: &[Request]) -> [Claim; $count] {
                std::array::from_fn(|index| Claim::new(wants.get(index).copied()))
            }

            fn color(&self) -> Option<Request> {
                [$(self.0.$index.part().want()),*].into_iter().find(|want| want.is_exclusive())
            }

            fn twice(&self) -> Option<(usize, usize)> {
                twice(&[$((self.0.$index.part().want(), self.0.$index.part().id())),*])
            }

            unsafe fn run(&self, own: impl Fn(Request) -> bool, f: FN) -> Result<RE, InUse> {
                let set = ($(self.0.$index.part(),)*);
                let places = [$((set.$index.want(), set.$index.id())),*];
                let reach = |index| reach(&places, index, &own);
                nest!(set f reach [] $($index $this)*)
            }
        }
    )*};
}

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
