//! [`Descriptor`]: what the reactor watches of a file.

pub(super) use self::system::Descriptor;

#[cfg(unix)]
mod system {
    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token, event::Source};
    use std::io;
    use std::os::fd::{AsRawFd, RawFd};

    /// The descriptor of a file, which is open for as long as this is registered.
    pub(in crate::fs) struct Descriptor(RawFd);

    impl Descriptor {
        pub(in crate::fs) fn of(file: &std::fs::File) -> Self {
            Self(file.as_raw_fd())
        }
    }

    impl Source for Descriptor {
        fn register(&mut self, to: &Registry, token: Token, of: Interest) -> io::Result<()> {
            SourceFd(&self.0).register(to, token, of)
        }

        fn reregister(&mut self, to: &Registry, token: Token, of: Interest) -> io::Result<()> {
            SourceFd(&self.0).reregister(to, token, of)
        }

        fn deregister(&mut self, from: &Registry) -> io::Result<()> {
            SourceFd(&self.0).deregister(from)
        }
    }
}

#[cfg(not(unix))]
mod system {
    use mio::{Interest, Registry, Token, event::Source};
    use std::io;

    /// There is none: no file is a stream here.
    pub(in crate::fs) enum Descriptor {}

    impl Descriptor {
        pub(in crate::fs) fn of(_: &std::fs::File) -> Self {
            unreachable!("no file is a stream on this system")
        }
    }

    impl Source for Descriptor {
        fn register(&mut self, _: &Registry, _: Token, _: Interest) -> io::Result<()> {
            match *self {}
        }

        fn reregister(&mut self, _: &Registry, _: Token, _: Interest) -> io::Result<()> {
            match *self {}
        }

        fn deregister(&mut self, _: &Registry) -> io::Result<()> {
            match *self {}
        }
    }
}
