//! Nobody looks.

use crate::kernel::lane::base::Lane;
use std::panic::Location;

#[inline(always)]
pub(crate) fn at_site<R>(_: &'static Location<'static>, f: impl FnOnce() -> R) -> R {
    f()
}

/// An act on a lane.
pub(crate) struct Act;

impl Act {
    #[inline(always)]
    pub(crate) fn push(_: &Lane) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn take(_: &Lane) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn end(self) {}

    #[inline(always)]
    pub(crate) fn note(&self) {}

    #[inline(always)]
    pub(crate) fn leave(self) {}
}

/// Pushes on several lanes, as one act.
pub(crate) struct Acts;

impl Acts {
    #[inline(always)]
    pub(crate) fn push<'l>(_: impl Iterator<Item = &'l Lane>) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn end(self) {}
}
