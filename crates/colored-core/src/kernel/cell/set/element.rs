//! One cell of a set: how the closure reaches its value once this thread has its lane.

use super::{Sealed, Shared};
use crate::kernel::cell::{ColorCell, InUse};
use crate::kernel::lane::behavior::request::{Mode, Request};
use std::ptr;

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
