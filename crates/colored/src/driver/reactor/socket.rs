//! [`Socket`]: what the reactor watches, and its number.

use mio::event::Source;

/// A source of events that has a descriptor.
pub(crate) trait Socket: Source {
    /// The descriptor.
    fn number(&self) -> u32;
}

#[cfg(unix)]
impl<S: Source + std::os::fd::AsRawFd> Socket for S {
    fn number(&self) -> u32 {
        self.as_raw_fd().cast_unsigned()
    }
}

#[cfg(not(unix))]
impl<S: Source> Socket for S {
    fn number(&self) -> u32 {
        crate::wait_reason::NO_DESCRIPTOR
    }
}
