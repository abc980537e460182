//! [`Descriptor`]: anything with a descriptor that the reactor can watch.

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token, event::Source};
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// The descriptor of a value that keeps it open for as long as this is registered.
pub(crate) struct Descriptor<T>(pub(crate) T);

impl<T: AsRawFd> Source for Descriptor<T> {
    fn register(&mut self, to: &Registry, token: Token, of: Interest) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).register(to, token, of)
    }

    fn reregister(&mut self, to: &Registry, token: Token, of: Interest) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).reregister(to, token, of)
    }

    fn deregister(&mut self, from: &Registry) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).deregister(from)
    }
}

impl<T: AsRawFd> AsRawFd for Descriptor<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
