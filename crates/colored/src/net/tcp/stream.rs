//! A connection.

use std::net::{self, SocketAddr};

use crate::driver::reactor::Socket as _;
use crate::net::connection::connection;
use crate::wait_reason::{Kind, labeled};

connection!(TcpStream, net::TcpStream);

/// A TCP connection.
///
/// Read and write it through [`AsyncRead`](crate::io::AsyncRead) and
/// [`AsyncWrite`](crate::io::AsyncWrite). `&TcpStream` implements them as well: two tasks may share one
/// connection, one to read and the other to write, without splitting it.
///
/// It has the system's default options; in particular Nagle's algorithm is on. A program that answers small messages
/// needs [`set_nodelay(true)`](TcpStream::set_nodelay).
///
/// Dropping it closes the connection, after the system has sent all written data.
pub struct TcpStream {
    inner: Registered<system::TcpStream>,
}

impl TcpStream {
    /// Registers a connected socket. It can take data, and often has some to read already.
    #[track_caller]
    pub(super) fn connected(socket: system::TcpStream) -> io::Result<TcpStream> {
        let inner = Registered::new(socket, Ready::READABLE | Ready::WRITABLE)?;
        Ok(TcpStream { inner })
    }

    /// Registers a socket that is about to be connected, and waits for the outcome.
    pub(super) async fn connecting(socket: system::TcpStream) -> io::Result<TcpStream> {
        let inner = Registered::new(socket, Ready::EMPTY)?;
        labeled(Kind::Connect, inner.get().number(), inner.io(Interest::WRITABLE, outcome)).await?;
        Ok(TcpStream { inner })
    }

    /// The address of this side.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// The address of the other side.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket().peer_addr()
    }
}

/// The outcome of a connect; `WouldBlock` while it is undecided.
fn outcome(socket: &system::TcpStream) -> io::Result<()> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    match socket.peer_addr() {
        // The event was about something else.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        other => other.map(|_| ()),
    }
}
