//! What both ends of a pipe have.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;

use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Registry, Token};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::ioctl_fionbio;

/// The direction of an end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Reads,
    Writes,
}

impl Way {
    fn interest(self) -> mio::Interest {
        match self {
            Way::Reads => mio::Interest::READABLE,
            Way::Writes => mio::Interest::WRITABLE,
        }
    }
}

/// An end of a pipe, in non-blocking mode.
pub(super) struct End {
    pub(super) file: File,
    way: Way,
}

impl End {
    /// Takes over an end, whatever it is, and makes it non-blocking.
    pub(super) fn unchecked(file: File, way: Way) -> io::Result<End> {
        ioctl_fionbio(&file, true)?;
        Ok(End { file, way })
    }

    /// Takes over an end of a pipe that is open for this direction.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if it is not.
    pub(super) fn checked(file: File, way: Way) -> io::Result<End> {
        let refused = |text| Err(io::Error::new(ErrorKind::InvalidInput, text));
        if !file.metadata()?.file_type().is_fifo() {
            return refused("this file is no pipe; allowed are pipes and FIFOs");
        }
        match (way, fcntl_getfl(&file)? & OFlags::ACCMODE) {
            (Way::Reads, OFlags::WRONLY) => refused("this end of a pipe is not open for reading"),
            (Way::Writes, OFlags::RDONLY) => refused("this end of a pipe is not open for writing"),
            _ => End::unchecked(file, way),
        }
    }

    /// The descriptor, in blocking mode or not.
    pub(super) fn into_fd(self, blocking: bool) -> io::Result<OwnedFd> {
        ioctl_fionbio(&self.file, !blocking)?;
        Ok(self.file.into())
    }
}

impl AsRawFd for End {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// Registers it for its own direction only: events of the other direction mean nothing.
impl Source for End {
    fn register(&mut self, to: &Registry, token: Token, _: mio::Interest) -> io::Result<()> {
        SourceFd(&self.file.as_raw_fd()).register(to, token, self.way.interest())
    }

    fn reregister(&mut self, to: &Registry, token: Token, _: mio::Interest) -> io::Result<()> {
        SourceFd(&self.file.as_raw_fd()).reregister(to, token, self.way.interest())
    }

    fn deregister(&mut self, from: &Registry) -> io::Result<()> {
        SourceFd(&self.file.as_raw_fd()).deregister(from)
    }
}

/// What both public types have, for their direction.
macro_rules! methods {
    ($end:ident, $way:expr, $ready:expr, $interest:expr, $open:literal) => {
        impl $end {
            #[doc = concat!("Takes over the end of a pipe or FIFO that is open for ", $open, ", and makes it")]
            /// non-blocking.
            ///
            /// # Errors
            ///
            /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the file is no such end; otherwise when the system refuses
            /// to register it.
            ///
            /// # Panics
            ///
            /// Outside a runtime.
            #[track_caller]
            pub fn from_file(file: File) -> io::Result<$end> {
                $end::registered(End::checked(file, $way)?)
            }

            /// As [`from_file`](Self::from_file), without looking at what the file is: a mistake shows in the
            /// operations. Saves two system calls.
            ///
            /// # Errors
            ///
            /// When the system refuses to make it non-blocking or to register it.
            ///
            /// # Panics
            ///
            /// Outside a runtime.
            #[track_caller]
            pub fn from_file_unchecked(file: File) -> io::Result<$end> {
                $end::registered(End::unchecked(file, $way)?)
            }

            /// As [`from_file`](Self::from_file), from a descriptor.
            ///
            /// # Errors
            ///
            /// Those of `from_file`.
            ///
            /// # Panics
            ///
            /// Outside a runtime.
            #[track_caller]
            pub fn from_owned_fd(fd: OwnedFd) -> io::Result<$end> {
                $end::from_file(fd.into())
            }

            /// As [`from_file_unchecked`](Self::from_file_unchecked), from a descriptor.
            ///
            /// # Errors
            ///
            /// When the system refuses to make it non-blocking or to register it.
            ///
            /// # Panics
            ///
            /// Outside a runtime.
            #[track_caller]
            pub fn from_owned_fd_unchecked(fd: OwnedFd) -> io::Result<$end> {
                $end::from_file_unchecked(fd.into())
            }

            #[track_caller]
            fn registered(end: End) -> io::Result<$end> {
                Ok($end { inner: Registered::new(end, $ready)? })
            }

            /// Ends the registration, and gives the descriptor in blocking mode, for instance for the standard stream of
            /// a child. The mode is the open file's: duplicates of the descriptor, which share it, block as well.
            ///
            /// # Errors
            ///
            /// When the system fails to release it; it is then closed.
            pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
                self.inner.into_inner()?.into_fd(true)
            }

            /// Ends the registration, and gives the descriptor in non-blocking mode.
            ///
            /// # Errors
            ///
            /// When the system fails to release it; it is then closed.
            pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
                self.inner.into_inner()?.into_fd(false)
            }

            /// Runs `operation` once, unless the pipe is known not to be ready. Use it for system calls that this type has
            /// no method for: `operation` uses the descriptor.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if the pipe is not ready. When `operation` returns this error, the
            /// pipe counts as not ready until the system reports an event. So `operation` must return it only if the
            /// system did.
            pub fn try_io<T>(&self, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
                self.inner.try_io($interest, |_| operation()).map(|(_, done)| done)
            }

            /// Runs `operation` when the pipe is ready, and again as long as it returns
            /// [`WouldBlock`](io::ErrorKind::WouldBlock); [`try_io`](Self::try_io) lists its obligations. Cancel safe:
            /// unless this returns, `operation` has not run or has not succeeded.
            pub async fn async_io<T>(
                &self,
                mut operation: impl FnMut() -> io::Result<T>,
            ) -> io::Result<T> {
                self.inner.io($interest, |_| operation()).await.map(|(_, done)| done)
            }

            /// Waits until the pipe is ready for part of `interest`, and returns that part; an end is never ready for the
            /// other direction. Cancel safe. A hint: the operation may still answer `WouldBlock`.
            pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
                self.inner.ready(interest).await
            }
        }

        impl AsFd for $end {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.inner.get().file.as_fd()
            }
        }

        impl AsRawFd for $end {
            fn as_raw_fd(&self) -> RawFd {
                self.inner.get().file.as_raw_fd()
            }
        }

        impl fmt::Debug for $end {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($end)).field(&self.as_raw_fd()).finish()
            }
        }
    };
}

pub(super) use methods;
