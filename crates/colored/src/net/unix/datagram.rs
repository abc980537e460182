//! Datagrams.

use std::fmt;
use std::fs;
use std::future::poll_fn;
use std::io;
use std::mem;
use std::net::Shutdown;
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use super::address::{self, BIND, CONNECT, SEND};
use super::resend::Resend;
use crate::io::{Interest, ReadBuf, Ready};
use crate::registration::Registered;
use crate::services::current;

/// A socket for datagrams to other programs on the same machine. They arrive in order, and none is lost: a sender waits
/// while the receiver's queue is full.
///
/// Tasks may share it in an [`Arc`](std::sync::Arc): all methods take `&self`.
///
/// Dropping the socket does not remove the file at its path.
///
/// # Examples
///
/// ```
/// use colored::net::UnixDatagram;
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// let (one, other) = UnixDatagram::pair()?;
/// one.send(b"hello").await?;
/// let mut buf = [0; 100];
/// assert_eq!(other.recv(&mut buf).await?, 5);
/// # Ok(())
/// # }
/// ```
pub struct UnixDatagram {
    pub(in crate::net) inner: Registered<mio::net::UnixDatagram>,
    /// Of [`poll_send_to`](UnixDatagram::poll_send_to).
    resend: Mutex<Resend>,
}

impl UnixDatagram {
    /// Makes a socket at `path`.
    ///
    /// # Errors
    ///
    /// When there is already a file at the path ([`AddrInUse`](io::ErrorKind::AddrInUse)); when its directory is missing
    /// or may not be written; or when the path is no valid path of a socket
    /// ([`InvalidInput`](io::ErrorKind::InvalidInput)). [`named_call`](crate::io::named_call) names the path.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn bind(path: impl AsRef<Path>) -> io::Result<UnixDatagram> {
        let address = address::of(BIND, path.as_ref())?;
        // Before there is a file.
        current::with(|_| ());
        let bound = mio::net::UnixDatagram::bind(path.as_ref());
        let socket = bound.map_err(|error| address::failed(BIND, &address, error))?;
        UnixDatagram::registered(socket).inspect_err(|_| {
            // This call has made the file, and no socket uses it.
            let _ = fs::remove_file(path.as_ref());
        })
    }

    /// A socket without an address: nobody can send to it before it has [connected](Self::connect).
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left or does not register them.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        UnixDatagram::registered(mio::net::UnixDatagram::unbound()?)
    }

    /// Two sockets that are connected to each other and have no addresses.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left or does not register them.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = mio::net::UnixDatagram::pair()?;
        Ok((UnixDatagram::registered(one)?, UnixDatagram::registered(other)?))
    }

    /// Sets the peer: the socket then sends to it without an address, and receives from nobody else.
    ///
    /// # Errors
    ///
    /// When there is no such socket. [`named_call`](crate::io::named_call) names the path.
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let address = address::of(CONNECT, path.as_ref())?;
        let connected = self.socket().connect(path.as_ref());
        connected.map_err(|error| address::failed(CONNECT, &address, error))
    }

    /// Takes over a socket of the standard library and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// When the system refuses to make it non-blocking or to register it.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn from_std(socket: net::UnixDatagram) -> io::Result<UnixDatagram> {
        socket.set_nonblocking(true)?;
        UnixDatagram::registered(mio::net::UnixDatagram::from_std(socket))
    }

    #[track_caller]
    fn registered(socket: mio::net::UnixDatagram) -> io::Result<UnixDatagram> {
        let inner = Registered::new(socket, Ready::READABLE | Ready::WRITABLE)?;
        Ok(UnixDatagram { inner, resend: Mutex::default() })
    }

    /// Gives the socket back to the standard library, still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// When the system fails to release it; the socket is then closed.
    pub fn into_std(self) -> io::Result<net::UnixDatagram> {
        self.inner.into_inner().map(|socket| std::os::fd::OwnedFd::from(socket).into())
    }

    /// Sends a datagram to the socket at `path`, and returns its length. While the queue of that socket is full it tries
    /// again, each 0.1 to 10 ms: the system tells only senders that are [connected](Self::connect) of room. Cancel safe: a
    /// datagram whose future was dropped has not been sent.
    ///
    /// # Errors
    ///
    /// When there is no such socket, or the datagram is too long. [`named`](crate::io::named) names the path.
    pub async fn send_to(&self, datagram: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        let address = address::of(SEND, path.as_ref())?;
        let mut resend = Resend::default();
        let send = || self.socket().send_to(datagram, path.as_ref());
        let sent = poll_fn(|cx| resend.poll(cx, send)).await;
        sent.map_err(|error| address::failed(SEND, &address, error))
    }

    /// Like [`send_to`](Self::send_to), without waiting.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if the queue of the receiver is full.
    pub fn try_send_to(&self, datagram: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        self.socket().send_to(datagram, path)
    }

    /// Like [`send_to`](Self::send_to); only the last task to poll this method is woken.
    ///
    /// # Errors
    ///
    /// As [`send_to`](Self::send_to).
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        datagram: &[u8],
        path: impl AsRef<Path>,
    ) -> Poll<io::Result<usize>> {
        let address = address::of(SEND, path.as_ref())?;
        // Polling may call code of a waker, which must not run under the lock.
        let mut resend = self.exchange_resend(Resend::default());
        let send = || self.socket().send_to(datagram, path.as_ref());
        let polled = resend.poll(cx, send);
        drop(self.exchange_resend(resend));
        polled.map_err(|error| address::failed(SEND, &address, error))
    }

    fn exchange_resend(&self, resend: Resend) -> Resend {
        let mut current = self.resend.lock().unwrap_or_else(PoisonError::into_inner);
        mem::replace(&mut current, resend)
    }

    /// Receives a datagram. Returns its length and its sender, which may have no path; what does not fit into `buf` is
    /// lost. Cancel safe: a datagram that has not been returned is still in the queue of the system.
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let recv = |socket: &mio::net::UnixDatagram| socket.recv_from(buf);
        self.inner.io(Interest::READABLE, recv).await.map(|(_, received)| received)
    }

    /// Like [`recv_from`](Self::recv_from), without waiting.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no datagram.
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let recv = |socket: &mio::net::UnixDatagram| socket.recv_from(buf);
        self.inner.try_io(Interest::READABLE, recv).map(|(_, received)| received)
    }

    /// Like [`recv_from`](Self::recv_from), into the unfilled part of `buf`; only the last task to poll for reading is
    /// woken.
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        let unfilled = buf.initialize_unfilled();
        let recv = |socket: &mio::net::UnixDatagram| socket.recv_from(unfilled);
        self.inner.poll_io(cx, Interest::READABLE, recv).map_ok(|(_, (len, from))| {
            buf.advance(len);
            from
        })
    }

    /// The address of this socket; one that is not bound has no path.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// The peer of [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// [`NotConnected`](io::ErrorKind::NotConnected) if there is none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket().peer_addr()
    }

    /// Ends one direction, or both: then sends fail, here or at the peer. A task that waits to receive goes on waiting on
    /// Linux, whose answer to a receive stays that nothing has come.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket().shutdown(how)
    }

    pub(in crate::net) fn socket(&self) -> &mio::net::UnixDatagram {
        self.inner.get()
    }
}

impl fmt::Debug for UnixDatagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket().fmt(f)
    }
}
