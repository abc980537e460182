//! Nobody looks.

use crate::lane::Lane;
use std::panic::Location;

#[inline(always)]
pub(crate) fn at_site<R>(_: &'static Location<'static>, f: impl FnOnce() -> R) -> R {
    f()
}

/// An act on a lane.
pub(in crate::lane) struct Act;

impl Act {
    #[inline(always)]
    pub(in crate::lane) fn push(_: &Lane) -> Self {
        Self
    }

    #[inline(always)]
    pub(in crate::lane) fn take(_: &Lane) -> Self {
        Self
    }

    #[inline(always)]
    pub(in crate::lane) fn end(self) {}

    #[inline(always)]
    pub(in crate::lane) fn note(&self) {}

    #[inline(always)]
    pub(in crate::lane) fn leave(self) {}
}

/// Pushes on several lanes, as one act.
pub(in crate::lane) struct Acts;

impl Acts {
    #[inline(always)]
    pub(in crate::lane) fn push<'l>(_: impl Iterator<Item = &'l Lane>) -> Self {
        Self
    }

    #[inline(always)]
    pub(in crate::lane) fn end(self) {}
}
