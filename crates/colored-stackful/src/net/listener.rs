//! Sockets that accept connections.

use std::fmt;
use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::Path;

use colored::net::{self, ToSocketAddrs};

use super::TcpStream;
#[cfg(unix)]
use super::UnixStream;
use crate::io::complete;

/// A TCP socket that listens for connections. Several tasks may accept at once.
pub struct TcpListener {
    inner: net::TcpListener,
}

/// A socket that listens for connections of programs on the same machine. Several tasks may accept at once.
///
/// Dropping the listener does not remove the file at its path.
#[cfg(unix)]
pub struct UnixListener {
    inner: net::UnixListener,
}

/// The connections that come to a listener, without an end. An error is that of one accept; the next one may succeed.
#[derive(Debug)]
#[must_use = "iterators do nothing unless they are consumed"]
pub struct Incoming<'a, L>(&'a L);

macro_rules! listener {
    ($listener:ident, $stream:ident, $address:ty) => {
        impl $listener {
            /// Waits for a connection, and returns it with the address of its other side.
            ///
            /// # Errors
            ///
            /// The errors of the async `accept`. A loop may log them and go on: after an error that lasts, such as a lack of
            /// descriptors, the next accept waits.
            pub fn accept(&self) -> io::Result<($stream, $address)> {
                let (stream, peer) = complete(self.inner.accept())?;
                Ok(($stream::from(stream), peer))
            }

            /// The connections as an iterator, which waits in `next`.
            pub fn incoming(&self) -> Incoming<'_, $listener> {
                Incoming(self)
            }

            /// The address that this listens on.
            pub fn local_addr(&self) -> io::Result<$address> {
                self.inner.local_addr()
            }

            /// The async listener.
            pub const fn get_ref(&self) -> &net::$listener {
                &self.inner
            }

            /// Gives the async listener back.
            pub fn into_inner(self) -> net::$listener {
                self.inner
            }
        }

        impl From<net::$listener> for $listener {
            fn from(inner: net::$listener) -> $listener {
                $listener { inner }
            }
        }

        impl Iterator for Incoming<'_, $listener> {
            type Item = io::Result<$stream>;

            fn next(&mut self) -> Option<io::Result<$stream>> {
                Some(self.0.accept().map(|(stream, _)| stream))
            }
        }

        impl<'a> IntoIterator for &'a $listener {
            type Item = io::Result<$stream>;
            type IntoIter = Incoming<'a, $listener>;

            fn into_iter(self) -> Incoming<'a, $listener> {
                self.incoming()
            }
        }

        impl fmt::Debug for $listener {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }
    };
}

listener!(TcpListener, TcpStream, SocketAddr);
#[cfg(unix)]
listener!(UnixListener, UnixStream, std::os::unix::net::SocketAddr);

impl TcpListener {
    /// Listens on the first of the addresses that can be bound. Port 0 lets the system choose the port.
    ///
    /// # Errors
    ///
    /// The errors of the async [`bind`](net::TcpListener::bind).
    pub fn bind(addr: impl ToSocketAddrs) -> io::Result<TcpListener> {
        complete(net::TcpListener::bind(addr)).map(TcpListener::from)
    }
}

#[cfg(unix)]
impl UnixListener {
    /// Makes a socket at `path`, and listens there.
    ///
    /// # Errors
    ///
    /// The errors of the async [`bind`](net::UnixListener::bind).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn bind(path: impl AsRef<Path>) -> io::Result<UnixListener> {
        net::UnixListener::bind(path).map(UnixListener::from)
    }
}
