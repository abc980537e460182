//! A connection.

mod methods;

use std::fmt;
use std::io;
use std::net::{self, Shutdown, SocketAddr};

use crate::driver::reactor::Socket;
use crate::io::{Interest, Ready};
use crate::net::transfer::Stream;
use crate::net::{socket, system};
use crate::registration::Registered;
use crate::wait_reason::{Kind, labeled};

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
    /// Takes over a connection of the standard library and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// When the system refuses to make it non-blocking or to register it.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn from_std(stream: net::TcpStream) -> io::Result<TcpStream> {
        stream.set_nonblocking(true)?;
        TcpStream::connected(system::TcpStream::from_std(stream))
    }

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

    /// Gives the connection back to the standard library, still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// When the system fails to release it; the connection is then closed.
    pub fn into_std(self) -> io::Result<net::TcpStream> {
        self.inner.into_inner().map(Into::into)
    }

    /// The address of this side.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// The address of the other side.
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
        socket::Socket::shutdown(self.socket(), how)?;
        // Wine wakes no task that waits to read.
        self.inner.end(how);
        Ok(())
    }

    pub(in crate::net) fn socket(&self) -> &system::TcpStream {
        self.inner.get()
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

impl Stream for TcpStream {
    type Socket = system::TcpStream;

    fn registered(&self) -> &Registered<system::TcpStream> {
        &self.inner
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket().fmt(f)
    }
}
