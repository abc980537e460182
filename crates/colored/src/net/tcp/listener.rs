//! A socket that accepts connections.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{self, SocketAddr};
use std::task::{Context, Poll, ready};

use socket2::SockRef;

use super::backoff::Backoff;
use super::{ListenOptions, TcpStream, hops};
use crate::driver::source::Registered;
use crate::io::{Interest, Ready};
use crate::net::ToSocketAddrs;
use crate::net::error::explained;

/// A TCP socket that listens for connections.
///
/// Several tasks may accept at once; each connection goes to one of them.
pub struct TcpListener {
    inner: Registered<mio::net::TcpListener>,
    backoff: Backoff,
}

impl TcpListener {
    /// Listens on the first of the addresses where that is possible, with the defaults of
    /// [`ListenOptions`]. Port 0 lets the system choose.
    ///
    /// # Errors
    ///
    /// See [`ListenOptions::listen`].
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn bind(addr: impl ToSocketAddrs) -> io::Result<TcpListener> {
        ListenOptions::new().listen(addr).await
    }

    /// Accepts a connection.
    ///
    /// Cancel safe: a connection that has not been returned is still in the queue of the system.
    ///
    /// # Errors
    ///
    /// Errors that concern one connection, such as one that was aborted while it waited, are passed
    /// over. The rest concern the listener, above all a lack of descriptors; none loses a
    /// connection that waits, and a loop may log them and go on. To keep such a loop from spinning,
    /// the next `accept` first waits, for 5 ms after the first error and up to 1 s after several in
    /// a row. The error says so, and has that of the system as its
    /// [`source`](std::error::Error::source).
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        loop {
            self.backoff.over().await;
            let accepted = self.inner.io(Interest::READABLE, |socket| socket.accept()).await;
            if let Some(done) = self.settle(accepted.map(|(_, accepted)| accepted)) {
                return done;
            }
        }
    }

    /// Accepts a connection; see [`accept`](TcpListener::accept). Only the last task to poll is
    /// woken.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        loop {
            ready!(self.backoff.poll_over(cx));
            let accepted =
                ready!(self.inner.poll_io(cx, Interest::READABLE, |socket| socket.accept()));
            if let Some(done) = self.settle(accepted.map(|(_, accepted)| accepted)) {
                return Poll::Ready(done);
            }
        }
    }

    /// What to tell the caller of one attempt, or nothing if it should try again.
    fn settle(
        &self,
        accepted: io::Result<(mio::net::TcpStream, SocketAddr)>,
    ) -> Option<io::Result<(TcpStream, SocketAddr)>> {
        let registered = match accepted {
            Ok((socket, peer)) => TcpStream::connected(socket).map(|stream| (stream, peer)),
            Err(error) if concerns_one_connection(&error) => return None,
            Err(error) => Err(error),
        };
        Some(match registered {
            Ok(done) => {
                self.backoff.succeeded();
                Ok(done)
            }
            Err(error) => Err(self.explain(error)),
        })
    }

    #[cold]
    fn explain(&self, error: io::Error) -> io::Error {
        let addr = self.local_addr().map_or("an unknown address".into(), |addr| addr.to_string());
        let pause = self.backoff.failed();
        let why = match is_out_of_descriptors(&error) {
            true => {
                "; every descriptor that is allowed is in use (see ulimit -n), \
                 and connections stay queued until one is free"
            }
            false => "",
        };
        let text =
            format!("cannot accept on {addr}: {error}{why}; the next accept waits up to {pause:?}");
        explained(text, error)
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
    pub fn from_std(listener: net::TcpListener) -> io::Result<TcpListener> {
        listener.set_nonblocking(true)?;
        let socket = mio::net::TcpListener::from_std(listener);
        let inner = Registered::new(socket, Ready::READABLE)?;
        Ok(TcpListener { inner, backoff: Backoff::default() })
    }

    /// Gives the listener back to the standard library, still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// When the system does not let go of it; it is closed then.
    pub fn into_std(self) -> io::Result<net::TcpListener> {
        self.inner.into_inner().map(Into::into)
    }

    /// The address that this listens on, with the port that the system chose.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.get().local_addr()
    }

    /// The time to live, in hops, of what accepted connections send.
    pub fn ttl(&self) -> io::Result<u32> {
        hops::get(&SockRef::from(self.socket()), self.local_addr()?)
    }

    /// Sets the [`ttl`](TcpListener::ttl), 1 to 255 hops; see [`ListenOptions::ttl`].
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for another number.
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        let socket = SockRef::from(self.socket());
        hops::set_for_accepted("set_ttl", &socket, self.local_addr()?, hops)
    }

    /// Takes the error that the system keeps for this socket.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.inner.get().take_error()
    }

    pub(super) fn socket(&self) -> &mio::net::TcpListener {
        self.inner.get()
    }

    /// How many tasks wait for a connection.
    #[cfg(test)]
    pub(super) fn acceptors(&self) -> usize {
        self.inner.listed()
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.get().fmt(f)
    }
}

/// True for an error that was waiting on the connection at the head of the queue, which is now
/// gone. Linux passes those of the network on through accept: accept(2), section "Error handling".
fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::NetworkUnreachable
    )
}

/// True if the process or the system has no descriptor left.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    // EMFILE and ENFILE have no stable `ErrorKind`; the numbers are the same on all unixes. The
    // last is WSAEMFILE.
    matches!(error.raw_os_error(), Some(23 | 24) if cfg!(unix))
        || matches!(error.raw_os_error(), Some(10024) if cfg!(windows))
}
