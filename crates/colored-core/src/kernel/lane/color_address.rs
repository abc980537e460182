//! [`Address`]: a color of a runtime.

use crate::kernel::color::Color;
use crate::kernel::lane::current;
use crate::kernel::lane::refs::LaneRef;
use std::fmt;

/// A color of a runtime. It keeps the color's lane.
#[derive(Clone)]
pub struct Address(LaneRef);

impl Address {
    pub(crate) fn of(lane: LaneRef) -> Self {
        Self(lane)
    }

    /// The color.
    #[must_use]
    pub fn color(&self) -> Color {
        self.0.color()
    }

    /// Whether the calling thread runs under the color right now.
    #[inline]
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }

    /// Whether the task that this thread polls goes on under the color after this poll: it has asked to hop there, or
    /// runs there and has not asked to hop away.
    #[must_use]
    pub fn is_next(&self) -> bool {
        current::hop().map_or_else(|| self.is_current(), |to| to == self.0.ptr())
    }

    #[inline]
    pub(crate) fn lane(&self) -> &LaneRef {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.color()).finish()
    }
}
