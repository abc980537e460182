//! A connection.

use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::time::Duration;

use super::address::{self, CONNECT};
use crate::net::connection::connection;
use crate::time::sleep;

connection!(UnixStream, net::UnixStream);

/// The first wait for a place in the queue of a listener, and the longest.
const FIRST_WAIT: Duration = Duration::from_micros(500);
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// A connection to another program on the same machine, or to another part of this one.
///
/// Read and write it through [`AsyncRead`](crate::io::AsyncRead) and
/// [`AsyncWrite`](crate::io::AsyncWrite). `&UnixStream` implements them as well: two tasks may share
/// one connection in an [`Arc`](std::sync::Arc), one to read and the other to write, without splitting it.
///
/// A byte costs less than over TCP on the loopback interface, because it passes no network stack, of
/// which the sender would also run the receiver's part.
///
/// This type has no methods for the system calls that send descriptors and credentials; use
/// [`async_io`](UnixStream::async_io) with these calls. If an ordinary read takes the bytes of a
/// descriptor, the system closes the descriptor.
///
/// Dropping it closes the connection; the peer can still read the data that was written before. If a
/// peer ends only its reading direction, the next write notices it; a write that waits for room does
/// not.
pub struct UnixStream {
    inner: Registered<system::UnixStream>,
}

impl UnixStream {
    /// Connects to the listener at `path`.
    ///
    /// If the queue of the listener is full, Linux reports it, but sends no event when there is room:
    /// so this function waits, and tries again after 0.5 to 50 ms. Other systems refuse the connection.
    /// Cancel safe: dropping the future closes the socket.
    ///
    /// # Errors
    ///
    /// When there is no such file ([`NotFound`](io::ErrorKind::NotFound)), there is no listener
    /// ([`ConnectionRefused`](io::ErrorKind::ConnectionRefused)), or the path is no valid path of a socket
    /// ([`InvalidInput`](io::ErrorKind::InvalidInput)). [`named`](crate::io::named) names the path.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn connect(path: impl AsRef<Path>) -> io::Result<UnixStream> {
        let address = address::of(CONNECT, path.as_ref())?;
        UnixStream::connect_addr(&address).await
    }

    /// Connects to the listener at `address`, which need not be a path; see
    /// [`connect`](UnixStream::connect). Cancel safe.
    pub async fn connect_addr(address: &SocketAddr) -> io::Result<UnixStream> {
        let mut wait = FIRST_WAIT;
        loop {
            let failed = match system::UnixStream::connect_addr(address) {
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
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = system::UnixStream::pair()?;
        Ok((UnixStream::connected(one)?, UnixStream::connected(other)?))
    }

    /// Registers a connected socket. It can take data, and often has some to read already.
    #[track_caller]
    pub(super) fn connected(socket: system::UnixStream) -> io::Result<UnixStream> {
        Ok(UnixStream { inner: Registered::with_room(socket)? })
    }

    /// The address of this side. The side that connected has none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// The address of the other side. The side that connected has none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket().peer_addr()
    }
}
