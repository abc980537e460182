//! [`Descriptor`]: what the reactor watches of a file.

pub(super) use self::system::{Descriptor, of};

#[cfg(unix)]
mod system {
    use std::os::fd::{AsRawFd, RawFd};

    /// The descriptor of a file, which is open for as long as this is registered.
    pub(in crate::fs) type Descriptor = crate::driver::descriptor::Descriptor<RawFd>;

    pub(in crate::fs) fn of(file: &std::fs::File) -> Descriptor {
        crate::driver::descriptor::Descriptor(file.as_raw_fd())
    }
}

#[cfg(not(unix))]
mod system {
    use mio::{Interest, Registry, Token, event::Source};
    use std::io;

    /// There is none: no file is a stream here.
    pub(in crate::fs) struct Descriptor(());

    pub(in crate::fs) fn of(_: &std::fs::File) -> Descriptor {
        unreachable!("no file is a stream on this system")
    }

    impl Source for Descriptor {
        fn register(&mut self, _: &Registry, _: Token, _: Interest) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn reregister(&mut self, _: &Registry, _: Token, _: Interest) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn deregister(&mut self, _: &Registry) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}
