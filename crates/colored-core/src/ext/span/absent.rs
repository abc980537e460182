//! There are no spans.

use super::Origin;
use crate::kernel::color::Color;
use crate::kernel::task::Id;
#[cfg(feature = "sim")]
use std::cell::Cell;

/// A task with a span that a thread polls: there is none.
#[cfg(feature = "sim")]
#[derive(Clone, Copy)]
pub(crate) enum Inside {}

#[cfg(feature = "sim")]
pub(crate) fn exchange_inside(_: &Cell<Option<Inside>>) {}

/// There is none.
pub(crate) enum TaskSpan {}

impl TaskSpan {
    #[inline(always)]
    pub(crate) fn of_task(_: Color, _: Origin<'_>) -> Option<Self> {
        None
    }

    #[inline(always)]
    pub(crate) fn of_blocking_call(_: Origin<'_>) -> Option<Self> {
        None
    }

    pub(crate) fn around<F>(&self, _: F) -> F {
        match *self {}
    }

    pub(crate) fn set_id(&self, _: Id) {
        match *self {}
    }
}

/// Nothing is carried along.
pub(crate) struct Carried;

impl Carried {
    #[inline(always)]
    pub(crate) fn from_here() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn within<R>(&self, f: impl FnOnce() -> R) -> R {
        f()
    }
}
