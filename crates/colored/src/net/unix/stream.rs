//! A connection.

use std::fmt;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::time::Duration;

use super::address::{self, CONNECT};
use crate::driver::source::Registered;
use crate::net::transfer::Stream;
use crate::time::sleep;

/// The first wait for a place in the queue of a listener, and the longest.
const FIRST_WAIT: Duration = Duration::from_micros(500);
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// A connection to another program on the same machine, or to another part of this one.
///
/// It is read and written through [`AsyncRead`](crate::io::AsyncRead) and
/// [`AsyncWrite`](crate::io::AsyncWrite), which `&UnixStream` implements as well: two tasks may
/// share one connection in an [`Arc`](std::sync::Arc), the one to read and the other to write. There is
/// nothing to split.
///
/// A byte costs less than over TCP on the loopback interface: there is no network stack to pass, and
/// the sender does not do the receiver's part of it.
///
/// Descriptors and credentials are sent by calls of the system that this type has no method for:
/// [`async_io`](UnixStream::async_io) waits for them. The system closes descriptors whose bytes are
/// taken by an ordinary read.
///
/// Dropping it closes the connection; the peer reads what was written before. A peer that ends its
/// reading direction only, and goes on, is noticed by the next write, not by one that waits for room.
pub struct UnixStream {
    inner: Registered<mio::net::UnixStream>,
}

impl UnixStream {
    /// Connects to the listener at `path`.
    ///
    /// Where its queue is full, Linux says so, and tells nobody when there is a place: this waits, and
    /// tries again after 0.5 to 50 ms. Other systems refuse. Cancel safe: dropping the future closes the
    /// socket.
    ///
    /// # Errors
    ///
    /// When there is no such file ([`NotFound`](io::ErrorKind::NotFound)), nobody listens
    /// ([`ConnectionRefused`](io::ErrorKind::ConnectionRefused)), or the path cannot be that of a
    /// socket ([`InvalidInput`](io::ErrorKind::InvalidInput)). The error names the path.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn connect(path: impl AsRef<Path>) -> io::Result<UnixStream> {
        let address = address::of(CONNECT, path.as_ref())?;
        UnixStream::connect_addr(&address).await
    }

    /// Connects to the listener at `address`, which need not be a path; see
    /// [`connect`](UnixStream::connect).
    pub async fn connect_addr(address: &SocketAddr) -> io::Result<UnixStream> {
        let mut wait = FIRST_WAIT;
        loop {
            let failed = match mio::net::UnixStream::connect_addr(address) {
                Ok(socket) => return UnixStream::connected(socket),
                Err(error) => error,
            };
            if failed.kind() != io::ErrorKind::WouldBlock {
                return Err(address::failed(CONNECT, address, failed));
            }
            sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
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
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = mio::net::UnixStream::pair()?;
        Ok((UnixStream::connected(one)?, UnixStream::connected(other)?))
    }

    /// Takes over a connection of the standard library and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// When the system refuses to make it non-blocking or to register it.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub fn from_std(stream: net::UnixStream) -> io::Result<UnixStream> {
        stream.set_nonblocking(true)?;
        UnixStream::connected(mio::net::UnixStream::from_std(stream))
    }

    /// Registers a connected socket. It can take data, and often has some to read already.
    pub(super) fn connected(socket: mio::net::UnixStream) -> io::Result<UnixStream> {
        Ok(UnixStream { inner: Registered::with_room(socket)? })
    }

    /// Gives the connection back to the standard library, still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// When the system does not let go of it; it is closed then.
    pub fn into_std(self) -> io::Result<net::UnixStream> {
        self.inner.into_inner().map(Into::into)
    }

    /// The address of this side. The side that connected has none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// The address of the other side. The side that connected has none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket().peer_addr()
    }

    /// Takes the error that the system keeps for this socket.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket().take_error()
    }

    /// Ends one direction, or both, at once. Tasks that wait for it are woken.
    ///
    /// [`AsyncWriteExt::shutdown`](crate::io::AsyncWriteExt::shutdown) ends the writing direction.
    pub fn shutdown_with(&self, how: Shutdown) -> io::Result<()> {
        self.socket().shutdown(how)?;
        if how != Shutdown::Read {
            // The system wakes only who waits to read.
            self.inner.end_writing();
        }
        Ok(())
    }

    pub(in crate::net) fn socket(&self) -> &mio::net::UnixStream {
        self.inner.get()
    }
}

impl Stream for UnixStream {
    type Socket = mio::net::UnixStream;

    fn registered(&self) -> &Registered<mio::net::UnixStream> {
        &self.inner
    }
}

impl fmt::Debug for UnixStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket().fmt(f)
    }
}
