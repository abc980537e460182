//! Unix sockets.

use std::io;
use std::os::unix::net::{self, SocketAddr};

use colored_machine::{Listener, Machine, Stream};

use super::either::{Either, Kind};
use crate::net::system::plain;
use crate::services::current;

pub(in crate::net) type UnixStream = Either<mio::net::UnixStream>;
pub(in crate::net) type UnixListener = Either<mio::net::UnixListener>;

impl Kind for mio::net::UnixStream {
    type Simulated = dyn Stream;

    fn unbound() -> io::Result<Self> {
        // One that has a peer in this process, as the simulated one.
        Self::pair().map(|(one, _)| one)
    }
}

impl Kind for mio::net::UnixListener {
    type Simulated = dyn Listener;

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
        let machine = |machine: &dyn Machine| machine.connect_unix(addr);
        Either::open(|| mio::net::UnixStream::connect_addr(addr), machine)
    }

    pub(in crate::net) fn pair() -> io::Result<(Self, Self)> {
        match current::machine() {
            None => mio::net::UnixStream::pair()
                .map(|(one, other)| (Either::System(one), Either::System(other))),
            Some(machine) => {
                let [one, other] = machine.unix_pair();
                let of = |stream| Either::simulated(machine.as_ref().map(|_| stream));
                Ok((of(one), of(other)))
            }
        }
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.ask(mio::net::UnixStream::local_addr, |of| named(of.unix_addrs()[0].take()))
    }

    pub(in crate::net) fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.ask(mio::net::UnixStream::peer_addr, |of| named(of.unix_addrs()[1].take()))
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
        Either::open(|| mio::net::UnixListener::bind_addr(addr), |machine| machine.bind_unix(addr))
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.ask(mio::net::UnixListener::local_addr, |of| named(of.unix_addr()))
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
        Either::Simulated(of) => {
            let stream = of.as_ref().try_map(|of| of.socket.accept())?;
            let peer = named(stream.unix_addrs()[1].take())?;
            Ok((Either::simulated(stream), peer))
        }
    }
}
