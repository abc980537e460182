//! TCP.

use std::io;
use std::net::{self, Shutdown, SocketAddr};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use socket2::{Domain, Protocol, Socket, Type};

use super::either::{Either, Unbound};
use crate::net::system::plain;
use crate::services::current;
use crate::world::Host;
use crate::world::network::{Listener, Stream};

pub(in crate::net) type TcpStream = Either<mio::net::TcpStream, Stream>;
pub(in crate::net) type TcpListener = Either<mio::net::TcpListener, Listener>;

fn new_socket() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Unbound for mio::net::TcpStream {
    fn unbound() -> io::Result<Self> {
        new_socket().map(|socket| Self::from_std(socket.into()))
    }
}

impl Unbound for mio::net::TcpListener {
    fn unbound() -> io::Result<Self> {
        new_socket().map(|socket| Self::from_std(socket.into()))
    }
}

impl TcpStream {
    pub(in crate::net) fn from_std(stream: net::TcpStream) -> Self {
        Either::System(mio::net::TcpStream::from_std(stream))
    }

    pub(in crate::net) fn connect(addr: SocketAddr) -> io::Result<Self> {
        match current::host() {
            None => mio::net::TcpStream::connect(addr).map(Either::System),
            Some(host) => Stream::connect(&host, None, addr).map(Either::simulated),
        }
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::System(socket) => socket.local_addr(),
            Either::Simulated { socket, .. } => socket.local_addr(),
        }
    }

    pub(in crate::net) fn peer_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::System(socket) => socket.peer_addr(),
            Either::Simulated { socket, .. } => socket.peer_addr(),
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
            Either::Simulated { socket, .. } => {
                let stream = socket.accept()?;
                let peer = stream.peer_addr()?;
                Ok((Either::simulated(stream), peer))
            }
        }
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::System(socket) => socket.local_addr(),
            Either::Simulated { socket, .. } => socket.local_addr(),
        }
    }

    pub(in crate::net) fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Either::System(socket) => socket.take_error(),
            Either::Simulated { .. } => Ok(None),
        }
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
    simulated: Option<Simulated>,
}

struct Simulated {
    host: Arc<Host>,
    bound: Mutex<Option<SocketAddr>>,
}

impl Simulated {
    fn bound(&self) -> Option<SocketAddr> {
        *self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    let simulated = |host| Simulated { host, bound: Mutex::default() };
    let simulated = current::host().map(simulated);
    Ok(Unconnected { socket: plain::unconnected(domain)?, simulated })
}

pub(in crate::net) fn bind(socket: &Unconnected, addr: SocketAddr) -> io::Result<()> {
    let Some(simulated) = &socket.simulated else { return plain::bind(&socket.socket, addr) };
    let shares = shares(&socket.socket);
    // Another listener shows now, and not when this one listens.
    let bound = Listener::bind(&simulated.host, addr, 1, shares)?.local_addr()?;
    *simulated.bound.lock().unwrap_or_else(PoisonError::into_inner) = Some(bound);
    Ok(())
}

pub(in crate::net) fn local_addr(socket: &Unconnected) -> io::Result<SocketAddr> {
    match &socket.simulated {
        None => plain::local_addr(&socket.socket),
        Some(simulated) => simulated.bound().map_or_else(|| plain::local_addr(&socket.socket), Ok),
    }
}

pub(in crate::net) fn begin_connect(
    socket: Unconnected,
    addr: SocketAddr,
) -> io::Result<TcpStream> {
    let Some(simulated) = &socket.simulated else {
        return plain::begin_connect(socket.socket, addr).map(Either::System);
    };
    let stream = Stream::connect(&simulated.host, simulated.bound(), addr)?;
    let options = mio::net::TcpStream::from_std(socket.socket.into());
    Ok(Either::Simulated { socket: stream, options: options.into() })
}

pub(in crate::net) fn listen(socket: Unconnected, backlog: u32) -> io::Result<TcpListener> {
    let Some(simulated) = &socket.simulated else {
        return plain::listen(socket.socket, backlog).map(Either::System);
    };
    let backlog = backlog.try_into().unwrap_or(usize::MAX);
    let bound = simulated.bound().ok_or(io::ErrorKind::InvalidInput)?;
    let listener = Listener::bind(&simulated.host, bound, backlog, shares(&socket.socket))?;
    let options = mio::net::TcpListener::from_std(socket.socket.into());
    Ok(Either::Simulated { socket: listener, options: options.into() })
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
