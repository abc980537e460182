//! Tuples of one to eight elements: the closure runs inside the accesses to all of them.

use super::{Cells, Element, Part, Reach, Sealed, Set};
use crate::kernel::cell::InUse;
use crate::kernel::lane::behavior::Claim;
use crate::kernel::lane::behavior::request::Request;

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
