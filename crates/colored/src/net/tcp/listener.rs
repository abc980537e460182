//! A socket that accepts connections.

use std::fmt;
use std::io;
use std::net::{self, SocketAddr};
use std::task::{self, Poll};

use socket2::SockRef;

use super::{TcpStream, ttl};
use crate::net::acceptor::{Acceptor, Listener};
use crate::net::system;
use crate::services::current::Context;

/// A TCP socket that listens for connections.
///
/// Several tasks may accept at once; each connection goes to one of them.
pub struct TcpListener {
    inner: Acceptor<system::TcpListener>,
}

impl TcpListener {
    /// Accepts a connection.
    ///
    /// Cancel safe: a connection that has not been returned is still in the queue of the system.
    ///
    /// # Errors
    ///
    /// The listener skips errors that concern one connection, such as a connection that was aborted
    /// while it waited. Other errors concern the listener, above all a lack of descriptors. They lose
    /// no waiting connection, so a loop may log them and go on. To keep such a loop from spinning, the
    /// next `accept` first waits, for 5 ms after the first error and up to 1 s after several in a row.
    /// The error reports this pause, and has the system's error as its
    /// [`source`](std::error::Error::source).
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.inner.accept().await
    }

    /// Accepts a connection; see [`accept`](TcpListener::accept). Only the last task to poll is
    /// woken.
    pub fn poll_accept(
        &self,
        cx: &mut task::Context<'_>,
    ) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        self.inner.poll_accept(cx)
    }

    /// Takes over a listener of the standard library and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// When the system refuses to make it non-blocking or to register it.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn from_std(listener: net::TcpListener) -> io::Result<TcpListener> {
        listener.set_nonblocking(true)?;
        TcpListener::listening(system::TcpListener::from_std(listener))
    }

    #[track_caller]
    pub(super) fn listening(socket: system::TcpListener) -> io::Result<TcpListener> {
        Ok(TcpListener { inner: Acceptor::new(socket)? })
    }

    /// As [`listening`](TcpListener::listening), watched where that worker has its sockets.
    pub(super) fn within(
        context: &Context,
        socket: system::TcpListener,
    ) -> io::Result<TcpListener> {
        Ok(TcpListener { inner: Acceptor::within(context, socket)? })
    }

    /// Gives the listener back to the standard library, still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// When the system fails to release it; the listener is then closed.
    pub fn into_std(self) -> io::Result<net::TcpListener> {
        self.inner.into_inner().map(Into::into)
    }

    /// The address that this listens on, with the port that the system chose.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.get().local_addr()
    }

    /// The time to live, in hops, of packets of accepted connections.
    pub fn ttl(&self) -> io::Result<u32> {
        ttl::get(&SockRef::from(self.socket()), self.local_addr()?)
    }

    /// Sets the [`ttl`](TcpListener::ttl), 1 to 255 hops; see [`ListenOptions::ttl`](super::ListenOptions::ttl).
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for another number.
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        let socket = SockRef::from(self.socket());
        ttl::set_for_accepted("set_ttl", &socket, self.local_addr()?, hops)
    }

    /// Takes the error that the system keeps for this socket.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.inner.get().take_error()
    }

    pub(in crate::net) fn socket(&self) -> &system::TcpListener {
        self.inner.get()
    }

    /// How many tasks wait for a connection.
    #[cfg(test)]
    pub(super) fn acceptors(&self) -> usize {
        self.inner.listed()
    }
}

impl Listener for system::TcpListener {
    type Taken = (system::TcpStream, SocketAddr);
    type Accepted = (TcpStream, SocketAddr);

    fn take(&self) -> io::Result<Self::Taken> {
        self.accept()
    }

    fn connected((socket, peer): Self::Taken) -> io::Result<Self::Accepted> {
        Ok((TcpStream::connected(socket)?, peer))
    }

    fn place(&self) -> io::Result<String> {
        Ok(self.local_addr()?.to_string())
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.get().fmt(f)
    }
}
