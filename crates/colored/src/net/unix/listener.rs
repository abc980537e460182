//! A socket that accepts connections.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::task::{Context, Poll};

use super::address::{self, LISTEN};
use super::stream::UnixStream;
use crate::net::acceptor::{Acceptor, Listener};
use crate::net::system;
use crate::services::current;

/// A socket that listens for connections of programs on the same machine.
///
/// Several tasks may accept at once; each connection goes to one of them.
///
/// ```no_run
/// use colored::net::{UnixListener, UnixStream};
///
/// async fn echo(stream: UnixStream) -> std::io::Result<u64> {
///     colored::io::copy(&mut &stream, &mut &stream).await
/// }
///
/// #[colored::main]
/// async fn main() -> std::io::Result<()> {
///     let listener = UnixListener::bind("/run/echo.sock")?;
///     loop {
///         let (stream, _) = listener.accept().await?;
///         colored::spawn_unique(echo(stream));
///     }
/// }
/// ```
///
/// Dropping the listener does not remove the file at its path. The program that made the file must
/// remove it, because only that program knows whether another listener uses the path by then.
pub struct UnixListener {
    inner: Acceptor<system::UnixListener>,
}

impl UnixListener {
    /// Makes a socket at `path`, and listens there. On Linux a path that begins with a NUL byte is an abstract name, which
    /// has no file, and ends with its listener.
    ///
    /// The permissions of the file and of its directory decide which processes may connect. The umask determines the
    /// file's permissions.
    ///
    /// # Errors
    ///
    /// When there is already a file at the path ([`AddrInUse`](io::ErrorKind::AddrInUse)), with or
    /// without a listener; when its directory is missing or may not be written; or when the path is no valid path of a
    /// socket ([`InvalidInput`](io::ErrorKind::InvalidInput)). [`named_call`](crate::io::named_call) names the path.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn bind(path: impl AsRef<Path>) -> io::Result<UnixListener> {
        UnixListener::bind_addr(&address::of(LISTEN, path.as_ref())?)
    }

    /// Listens at `address`, which need not be a path: on Linux it may be an abstract name, which ends
    /// with its listener. See [`bind`](UnixListener::bind).
    #[track_caller]
    pub fn bind_addr(address: &SocketAddr) -> io::Result<UnixListener> {
        // Before there is a file.
        current::with(|_| ());
        let bound = system::UnixListener::bind_addr(address);
        let socket = bound.map_err(|error| address::failed(LISTEN, address, error))?;
        let inner = Acceptor::new(socket).inspect_err(|_| {
            if let Some(path) = address.as_pathname() {
                // This call has made the file, and no socket uses it.
                let _ = fs::remove_file(path);
            }
        })?;
        Ok(UnixListener { inner })
    }

    /// Accepts a connection.
    ///
    /// Cancel safe: a connection that has not been returned is still in the queue of the system.
    ///
    /// # Errors
    ///
    /// The errors of [`TcpListener::accept`](crate::net::TcpListener::accept), with the same pauses
    /// after them.
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.inner.accept().await
    }

    /// Accepts a connection; see [`accept`](UnixListener::accept). Only the last task to poll is
    /// woken.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
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
    pub fn from_std(listener: net::UnixListener) -> io::Result<UnixListener> {
        listener.set_nonblocking(true)?;
        let socket = system::UnixListener::from_std(listener);
        Ok(UnixListener { inner: Acceptor::new(socket)? })
    }

    /// Gives the listener back to the standard library, still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// When the system fails to release it; the listener is then closed.
    pub fn into_std(self) -> io::Result<net::UnixListener> {
        self.inner.into_inner().map(Into::into)
    }

    /// The address that this listens on.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// Takes the error that the system keeps for this socket.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket().take_error()
    }

    pub(in crate::net) fn socket(&self) -> &system::UnixListener {
        self.inner.get()
    }
}

impl Listener for system::UnixListener {
    type Taken = (system::UnixStream, SocketAddr);
    type Accepted = (UnixStream, SocketAddr);

    /// Not by mio, which panics for a peer that is bound to a path of 108 bytes, as Linux allows.
    fn take(&self) -> io::Result<Self::Taken> {
        system::accept_unix(self)
    }

    fn connected((socket, peer): Self::Taken) -> io::Result<Self::Accepted> {
        Ok((UnixStream::connected(socket)?, peer))
    }

    fn place(&self) -> io::Result<String> {
        Ok(address::name(&self.local_addr()?))
    }
}

impl fmt::Debug for UnixListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket().fmt(f)
    }
}
