//! Connections on one machine.

use std::fmt;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use colored::net;

use super::stream::connection;
use crate::io::{Shared, complete, read_methods, write_methods};

/// A connection on one machine that is `Read` and `Write`, and `&UnixStream` as well.
///
/// Dropping the last clone closes the connection. See [the module](super).
pub struct UnixStream {
    shared: Shared<net::UnixStream>,
}

read_methods!(UnixStream);
write_methods!(UnixStream);
connection!(UnixStream, SocketAddr);

impl UnixStream {
    /// Connects to the listener at `path`, and waits for a place in its queue on Linux.
    ///
    /// # Errors
    ///
    /// The errors of the async [`connect`](net::UnixStream::connect).
    pub fn connect(path: impl AsRef<Path>) -> io::Result<UnixStream> {
        complete(net::UnixStream::connect(path)).map(UnixStream::from)
    }

    /// Two ends of one connection that has no address.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left or does not register them.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = net::UnixStream::pair()?;
        Ok((UnixStream::from(one), UnixStream::from(other)))
    }
}

impl TryFrom<std::os::unix::net::UnixStream> for UnixStream {
    type Error = io::Error;

    /// See [`from_std`](net::UnixStream::from_std), also for errors and panics.
    #[track_caller]
    fn try_from(stream: std::os::unix::net::UnixStream) -> io::Result<UnixStream> {
        net::UnixStream::from_std(stream).map(UnixStream::from)
    }
}
