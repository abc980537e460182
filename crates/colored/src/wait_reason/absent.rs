//! Without the feature `diagnose`, a task that waits notes nothing.

use super::Kind;
use std::panic::Location;

/// Nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reason;

#[expect(clippy::unused_self, reason = "as with the feature")]
impl Reason {
    #[inline]
    pub(crate) fn new(_: Kind, _: u32) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn at(self, _: &'static Location<'static>) -> Self {
        self
    }

    #[inline]
    pub(crate) fn as_guard(self) -> Self {
        self
    }

    #[inline]
    pub(crate) fn note(self) {}

    #[inline]
    pub(crate) fn forget(self) {}
}

/// Nothing.
#[derive(Debug)]
pub(crate) struct Note;

#[expect(clippy::unused_self, reason = "as with the feature")]
impl Note {
    #[inline]
    pub(crate) fn of(_: Reason) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn record_poll(&mut self, _: bool) {}
}

/// Nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerReason;

#[expect(clippy::unused_self, reason = "as with the feature")]
impl TimerReason {
    #[inline]
    pub(crate) fn here() -> Self {
        Self
    }

    #[inline]
    pub(crate) fn note(self, _: u64, _: u64, _: bool) {}

    #[inline]
    pub(crate) fn forget(self, _: impl FnOnce() -> u64) {}
}
