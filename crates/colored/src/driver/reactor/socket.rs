//! [`Socket`]: what the reactor watches, and its number.

use super::Entry;
use mio::event::Source;
use std::sync::Arc;

/// A source of events that has a descriptor.
pub(crate) trait Socket: Source {
    /// The descriptor.
    fn number(&self) -> u32;

    /// Whether it is one of a simulated network, which needs no selector.
    #[inline]
    fn is_simulated(&self) -> bool {
        false
    }

    /// Tells a simulated socket which tasks wait for it.
    #[inline]
    fn attach(&self, _: &Arc<Entry>) {}
}

#[cfg(unix)]
impl<S: Source + std::os::fd::AsRawFd> Socket for S {
    fn number(&self) -> u32 {
        self.as_raw_fd().cast_unsigned()
    }
}

#[cfg(windows)]
impl<S: Source + std::os::windows::io::AsRawSocket> Socket for S {
    fn number(&self) -> u32 {
        crate::wait_reason::NO_DESCRIPTOR
    }
}
