//! Pipes.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use colored::net::unix::pipe::{self, Receiver, Sender};

use super::{Shared, read_methods, write_methods};

/// The end of a [`pipe()`] to read from. Clones, and references in an [`Arc`](std::sync::Arc), may be used by several tasks.
pub struct PipeReader {
    shared: Shared<Receiver>,
}

/// The end of a [`pipe()`] to write to. Clones, and references in an [`Arc`](std::sync::Arc), may be used by several tasks.
/// The pipe ends when the last clone is dropped.
pub struct PipeWriter {
    shared: Shared<Sender>,
}

read_methods!(PipeReader);
write_methods!(PipeWriter);

/// Makes a pipe, with an end to read from and an end to write to, in the order of [`std::io::pipe`].
///
/// # Errors
///
/// When the system has no descriptors left or does not register them.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (sender, receiver) = pipe::pipe()?;
    Ok((PipeReader::from(receiver), PipeWriter::from(sender)))
}

macro_rules! end {
    ($end:ident, $async_end:ident) => {
        impl $end {
            /// Another owner of the same end. It shares the descriptor and the time-out, and makes no system call.
            ///
            /// # Errors
            ///
            /// None. It returns a `Result` as the standard library does.
            pub fn try_clone(&self) -> io::Result<$end> {
                Ok($end { shared: self.shared.share() })
            }

            /// The async end.
            pub fn get_ref(&self) -> &$async_end {
                self.shared.get()
            }

            /// Gives the async end back.
            ///
            /// # Errors
            ///
            /// Returns this end while a clone of it lives.
            pub fn into_inner(self) -> Result<$async_end, $end> {
                self.shared.into_inner().map_err(|shared| $end { shared })
            }
        }

        impl From<$async_end> for $end {
            fn from(end: $async_end) -> $end {
                $end { shared: Shared::new(end) }
            }
        }

        impl TryFrom<OwnedFd> for $end {
            type Error = io::Error;

            /// See `from_owned_fd` of the async end, also for errors and panics.
            #[track_caller]
            fn try_from(fd: OwnedFd) -> io::Result<$end> {
                $async_end::from_owned_fd(fd).map($end::from)
            }
        }

        impl AsFd for $end {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.shared.get().as_fd()
            }
        }

        impl AsRawFd for $end {
            fn as_raw_fd(&self) -> RawFd {
                self.shared.get().as_raw_fd()
            }
        }

        impl fmt::Debug for $end {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($end)).field(&self.as_raw_fd()).finish()
            }
        }
    };
}

end!(PipeReader, Receiver);
end!(PipeWriter, Sender);
