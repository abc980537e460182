//! [`Simulated`]: what a simulation puts in place of something of the system.
//!
//! The runtime asks where it opens something: a runtime of a [`Machine`] opens it there. What is open is of the system or of the
//! machine, and an enum says which. Without the feature `sim` nothing is of a machine, and the compiler knows that: such a
//! variant has no value and no room, and no instruction asks for it.

use colored_machine as machine;
#[cfg(not(feature = "sim"))]
use std::convert::Infallible;
use std::fmt;
use std::io;
#[cfg(not(feature = "sim"))]
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// The machine of a simulated runtime.
pub(crate) type Machine = Simulated<Arc<dyn machine::Machine>>;

/// Something of a simulation.
#[cfg(feature = "sim")]
#[derive(Clone)]
pub(crate) struct Simulated<T>(T);

/// Something of a simulation, of which there is none.
#[cfg(not(feature = "sim"))]
#[derive(Clone)]
pub(crate) struct Simulated<T>(Infallible, PhantomData<T>);

#[cfg(not(feature = "sim"))]
const _: () = assert!(size_of::<Result<u32, Simulated<Box<u32>>>>() == size_of::<u32>());

#[cfg(feature = "sim")]
impl<T> Simulated<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }

    pub(crate) fn as_ref(&self) -> Simulated<&T> {
        Simulated(&self.0)
    }

    /// What `f` makes of it, which is of the simulation too.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Simulated<U> {
        Simulated(f(self.0))
    }

    /// As [`map`](Self::map), for what may fail.
    ///
    /// # Errors
    ///
    /// That of `f`.
    pub(crate) fn try_map<U>(self, f: impl FnOnce(T) -> io::Result<U>) -> io::Result<Simulated<U>> {
        f(self.0).map(Simulated)
    }
}

#[cfg(not(feature = "sim"))]
impl<T> Simulated<T> {
    pub(crate) fn as_ref(&self) -> Simulated<&T> {
        match self.0 {}
    }

    pub(crate) fn map<U>(self, _: impl FnOnce(T) -> U) -> Simulated<U> {
        match self.0 {}
    }

    pub(crate) fn try_map<U>(self, _: impl FnOnce(T) -> io::Result<U>) -> io::Result<Simulated<U>> {
        match self.0 {}
    }
}

impl<T> Deref for Simulated<T> {
    type Target = T;

    fn deref(&self) -> &T {
        #[cfg(feature = "sim")]
        return &self.0;
        #[cfg(not(feature = "sim"))]
        match self.0 {}
    }
}

impl<T: fmt::Debug> fmt::Debug for Simulated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
