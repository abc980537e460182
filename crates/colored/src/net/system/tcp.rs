//! TCP.

use std::io;
use std::net::{self, SocketAddr};
use std::ops::Deref;

use colored_machine::{self as machine, BindOptions, Listener, Stream};
use socket2::{Domain, Protocol, Socket, Type};

use super::either::{Either, Kind};
use crate::driver::simulated::Simulated;
use crate::net::system::plain;
use crate::services::current;

pub(in crate::net) type TcpStream = Either<mio::net::TcpStream>;
pub(in crate::net) type TcpListener = Either<mio::net::TcpListener>;

fn new_socket() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Kind for mio::net::TcpStream {
    type Simulated = dyn Stream;

    fn unbound() -> io::Result<Self> {
        new_socket().map(|socket| Self::from_std(socket.into()))
    }
}

impl Kind for mio::net::TcpListener {
    type Simulated = dyn Listener;

    fn unbound() -> io::Result<Self> {
        new_socket().map(|socket| Self::from_std(socket.into()))
    }
}

impl TcpStream {
    pub(in crate::net) fn from_std(stream: net::TcpStream) -> Self {
        Either::System(mio::net::TcpStream::from_std(stream))
    }

    pub(in crate::net) fn connect(addr: SocketAddr) -> io::Result<Self> {
        Either::open(|| mio::net::TcpStream::connect(addr), |machine| machine.connect(addr))
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.ask(mio::net::TcpStream::local_addr, machine::Socket::local_addr)
    }

    pub(in crate::net) fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.ask(mio::net::TcpStream::peer_addr, Stream::peer_addr)
    }
}

impl From<TcpStream> for net::TcpStream {
    fn from(socket: TcpStream) -> Self {
        socket.into_system().into()
    }
}

impl TcpListener {
    pub(in crate::net) fn from_std(listener: net::TcpListener) -> Self {
        Either::System(mio::net::TcpListener::from_std(listener))
    }

    pub(in crate::net) fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        match self {
            Either::System(socket) => {
                socket.accept().map(|(stream, peer)| (Either::System(stream), peer))
            }
            Either::Simulated(of) => {
                let stream = of.as_ref().try_map(|of| of.socket.accept())?;
                let peer = stream.connected_addr()?;
                Ok((Either::simulated(stream), peer))
            }
        }
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.ask(mio::net::TcpListener::local_addr, machine::Socket::local_addr)
    }
}

impl From<TcpListener> for net::TcpListener {
    fn from(socket: TcpListener) -> Self {
        socket.into_system().into()
    }
}

/// A TCP socket that is neither connected nor listens. That of a simulation has its options at a socket of the system.
pub(in crate::net) struct Unconnected {
    socket: Socket,
    simulated: Option<Simulated<Box<dyn machine::Unconnected>>>,
}

impl Deref for Unconnected {
    type Target = Socket;

    fn deref(&self) -> &Socket {
        &self.socket
    }
}

impl From<net::TcpStream> for Unconnected {
    fn from(stream: net::TcpStream) -> Self {
        Unconnected { socket: stream.into(), simulated: None }
    }
}

impl From<Unconnected> for Socket {
    fn from(unconnected: Unconnected) -> Self {
        unconnected.socket
    }
}

impl std::fmt::Debug for Unconnected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.socket.fmt(f)
    }
}

pub(in crate::net) fn unconnected(domain: Domain) -> io::Result<Unconnected> {
    let is_v6 = domain == Domain::IPV6;
    let simulated = current::machine().map(|machine| machine.map(|machine| machine.socket(is_v6)));
    Ok(Unconnected { socket: plain::unconnected(domain)?, simulated })
}

pub(in crate::net) fn bind(socket: &Unconnected, addr: SocketAddr) -> io::Result<()> {
    match &socket.simulated {
        None => plain::bind(&socket.socket, addr),
        Some(simulated) => simulated.bind(addr, options_of(socket)?),
    }
}

/// The options that matter for who has an address.
fn options_of(socket: &Socket) -> io::Result<BindOptions> {
    // A socket of IPv4 has no such option.
    let only_v6 = socket.only_v6().unwrap_or(false);
    // On Windows the option means something else.
    let reuses = cfg!(unix) && socket.reuse_address()?;
    Ok(BindOptions { only_v6, reuses, shares: shares(socket) })
}

pub(in crate::net) fn local_addr(socket: &Unconnected) -> io::Result<SocketAddr> {
    let simulated = socket.simulated.as_ref().and_then(|simulated| simulated.local_addr());
    simulated.unwrap_or_else(|| plain::local_addr(&socket.socket))
}

pub(in crate::net) fn begin_connect(
    socket: Unconnected,
    addr: SocketAddr,
) -> io::Result<TcpStream> {
    let Unconnected { socket, simulated } = socket;
    let Some(simulated) = simulated else {
        return plain::begin_connect(socket, addr).map(Either::System);
    };
    let stream = simulated.try_map(|simulated| simulated.connect(addr))?;
    Ok(Either::simulated_with(stream, mio::net::TcpStream::from_std(socket.into())))
}

pub(in crate::net) fn listen(socket: Unconnected, backlog: u32) -> io::Result<TcpListener> {
    let Unconnected { socket, simulated } = socket;
    let Some(simulated) = simulated else {
        return plain::listen(socket, backlog).map(Either::System);
    };
    let (options, backlog) = (options_of(&socket)?, backlog.try_into().unwrap_or(usize::MAX));
    let listener = simulated.try_map(|simulated| simulated.listen(backlog, options))?;
    Ok(Either::simulated_with(listener, mio::net::TcpListener::from_std(socket.into())))
}

/// Whether other sockets may listen at the same address.
#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
fn shares(socket: &Socket) -> bool {
    socket.reuse_port().unwrap_or(false)
}

#[cfg(not(all(unix, not(any(target_os = "solaris", target_os = "illumos")))))]
fn shares(_: &Socket) -> bool {
    false
}
