//! Unix sockets.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::{self, SocketAddr};

use super::either::{Either, Unbound};
use crate::net::system::plain;
use crate::services::current;
use crate::world::network::{Listener, Stream};

pub(in crate::net) type UnixStream = Either<mio::net::UnixStream, Stream>;
pub(in crate::net) type UnixListener = Either<mio::net::UnixListener, Listener>;

impl Unbound for mio::net::UnixStream {
    fn unbound() -> io::Result<Self> {
        // One that has a peer in this process, as the simulated one.
        Self::pair().map(|(one, _)| one)
    }
}

impl Unbound for mio::net::UnixListener {
    fn unbound() -> io::Result<Self> {
        let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        Ok(Self::from_std(socket.into()))
    }
}

/// An address, or one without a name.
fn named(addr: Option<SocketAddr>) -> io::Result<SocketAddr> {
    addr.map_or_else(|| SocketAddr::from_pathname(""), Ok)
}

impl UnixStream {
    pub(in crate::net) fn from_std(stream: net::UnixStream) -> Self {
        Either::System(mio::net::UnixStream::from_std(stream))
    }

    pub(in crate::net) fn connect_addr(addr: &SocketAddr) -> io::Result<Self> {
        match current::host() {
            None => mio::net::UnixStream::connect_addr(addr).map(Either::System),
            Some(host) => Stream::connect_unix(&host, addr).map(Either::simulated),
        }
    }

    pub(in crate::net) fn pair() -> io::Result<(Self, Self)> {
        match current::host() {
            None => mio::net::UnixStream::pair()
                .map(|(one, other)| (Either::System(one), Either::System(other))),
            Some(host) => {
                let (one, other) = Stream::unix_pair(&host);
                Ok((Either::simulated(one), Either::simulated(other)))
            }
        }
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::System(socket) => socket.local_addr(),
            Either::Simulated { socket, .. } => named(socket.unix_addrs().0),
        }
    }

    pub(in crate::net) fn peer_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::System(socket) => socket.peer_addr(),
            Either::Simulated { socket, .. } => named(socket.unix_addrs().1),
        }
    }

    pub(in crate::net) fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Either::System(socket) => socket.take_error(),
            Either::Simulated { socket, .. } => Ok(socket.take_error()),
        }
    }

    pub(in crate::net) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Either::System(socket) => socket.shutdown(how),
            Either::Simulated { socket, .. } => socket.shutdown(how),
        }
    }
}

impl From<UnixStream> for net::UnixStream {
    fn from(socket: UnixStream) -> Self {
        socket.into_system().into()
    }
}

impl UnixListener {
    pub(in crate::net) fn from_std(listener: net::UnixListener) -> Self {
        Either::System(mio::net::UnixListener::from_std(listener))
    }

    pub(in crate::net) fn bind_addr(addr: &SocketAddr) -> io::Result<Self> {
        match current::host() {
            None => mio::net::UnixListener::bind_addr(addr).map(Either::System),
            Some(host) => Listener::bind_unix(&host, addr).map(Either::simulated),
        }
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::System(socket) => socket.local_addr(),
            Either::Simulated { socket, .. } => named(socket.unix_addr()),
        }
    }

    pub(in crate::net) fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Either::System(socket) => socket.take_error(),
            Either::Simulated { .. } => Ok(None),
        }
    }
}

impl From<UnixListener> for net::UnixListener {
    fn from(socket: UnixListener) -> Self {
        socket.into_system().into()
    }
}

pub(in crate::net) fn accept_unix(listener: &UnixListener) -> io::Result<(UnixStream, SocketAddr)> {
    match listener {
        Either::System(socket) => {
            plain::accept_unix(socket).map(|(stream, peer)| (Either::System(stream), peer))
        }
        Either::Simulated { socket, .. } => {
            let stream = socket.accept()?;
            let peer = named(stream.unix_addrs().1)?;
            Ok((Either::simulated(stream), peer))
        }
    }
}
