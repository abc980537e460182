//! Without the feature `record`, a runtime records nothing.

use colored_core::port::Order;
use std::io;

/// Nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setting;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
impl Setting {
    pub(crate) const fn is_replay(&self) -> bool {
        false
    }

    pub(crate) const fn is_off(&self) -> bool {
        true
    }

    pub(crate) const fn open(&self) -> io::Result<Recording> {
        Ok(Recording)
    }
}

/// Nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recording;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
impl Recording {
    pub(crate) fn order(&self) -> Order {
        Order
    }

    pub(crate) const fn start(&self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) const fn finish(&self) {}

    pub(crate) const fn enter(&self) -> Inside {
        Inside
    }

    #[inline(always)]
    pub(crate) fn watched<F: Future>(&self, future: F) -> F {
        future
    }

    pub(crate) const fn raise(&self) {}
}

/// Nothing.
pub(crate) struct Inside;
