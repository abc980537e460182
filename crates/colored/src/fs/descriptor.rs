//! [`Descriptor`]: what the reactor watches of a file.

pub(super) use self::system::{Descriptor, of};

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::sync::Arc;

    /// A counted reference to a file: the descriptor is open for as long as this is registered.
    pub(in crate::fs) type Descriptor = crate::driver::descriptor::Descriptor<Arc<File>>;

    pub(in crate::fs) fn of(file: &Arc<File>) -> Descriptor {
        crate::driver::descriptor::Descriptor(Arc::clone(file))
    }
}

#[cfg(not(unix))]
mod system {
    use mio::{Interest, Registry, Token, event::Source};
    use std::fs::File;
    use std::io;
    use std::sync::Arc;

    /// There is none: no file is a stream here.
    pub(in crate::fs) struct Descriptor(());

    pub(in crate::fs) fn of(_: &Arc<File>) -> Descriptor {
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

    impl crate::driver::reactor::Socket for Descriptor {
        fn number(&self) -> u32 {
            crate::wait_reason::NO_DESCRIPTOR
        }
    }
}
