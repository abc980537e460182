//! TCP.

use std::io;
use std::net::{self, IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use socket2::{Domain, Protocol, Socket, Type};

use super::either::{Either, Unbound};
use crate::net::system::plain;
use crate::services::current;
use crate::world::Host;
use crate::world::network::error::{error, wrong_family};
use crate::world::network::{Listener, Sharing, Stream};

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
                let peer = stream.connected_addr()?;
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
    domain: Domain,
    bound: Mutex<Option<Listener>>,
}

impl Simulated {
    fn bound(&self) -> MutexGuard<'_, Option<Listener>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
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
    let simulated = |host| Simulated { host, domain, bound: Mutex::default() };
    let simulated = current::host().map(simulated);
    Ok(Unconnected { socket: plain::unconnected(domain)?, simulated })
}

pub(in crate::net) fn bind(socket: &Unconnected, addr: SocketAddr) -> io::Result<()> {
    let Some(simulated) = &socket.simulated else { return plain::bind(&socket.socket, addr) };
    let mut bound = simulated.bound();
    if bound.is_some() {
        return Err(error(io::ErrorKind::InvalidInput));
    }
    check_family(simulated.domain, addr)?;
    *bound = Some(reserve(socket, &simulated.host, addr)?);
    Ok(())
}

/// The errors of Linux, to which an address of IPv4 is too short for IPv6.
fn check_family(domain: Domain, addr: SocketAddr) -> io::Result<()> {
    match domain == Domain::IPV6 {
        _ if domain == Domain::for_address(addr) => Ok(()),
        true => Err(error(io::ErrorKind::InvalidInput)),
        false => Err(wrong_family()),
    }
}

fn reserve(socket: &Socket, host: &Arc<Host>, addr: SocketAddr) -> io::Result<Listener> {
    let only_v6 = addr.is_ipv6() && socket.only_v6()?;
    // On Windows the option means something else.
    let reuses = cfg!(unix) && socket.reuse_address()?;
    Listener::bind(host, addr, only_v6, Sharing { reuses, shares: shares(socket) })
}

pub(in crate::net) fn local_addr(socket: &Unconnected) -> io::Result<SocketAddr> {
    let Some(simulated) = &socket.simulated else { return plain::local_addr(&socket.socket) };
    match &*simulated.bound() {
        Some(bound) => bound.local_addr(),
        None => plain::local_addr(&socket.socket),
    }
}

pub(in crate::net) fn begin_connect(
    socket: Unconnected,
    addr: SocketAddr,
) -> io::Result<TcpStream> {
    let Some(simulated) = socket.simulated else {
        return plain::begin_connect(socket.socket, addr).map(Either::System);
    };
    check_family(simulated.domain, addr)?;
    let bound = simulated.bound().take();
    let stream = Stream::connect(&simulated.host, bound, addr)?;
    let options = mio::net::TcpStream::from_std(socket.socket.into());
    Ok(Either::Simulated { socket: stream, options: options.into() })
}

pub(in crate::net) fn listen(socket: Unconnected, backlog: u32) -> io::Result<TcpListener> {
    let Some(simulated) = &socket.simulated else {
        return plain::listen(socket.socket, backlog).map(Either::System);
    };
    let any: IpAddr = match simulated.domain {
        Domain::IPV6 => Ipv6Addr::UNSPECIFIED.into(),
        _ => Ipv4Addr::UNSPECIFIED.into(),
    };
    let bound = simulated.bound().take();
    let listener = match bound {
        Some(bound) => bound,
        None => reserve(&socket, &simulated.host, SocketAddr::new(any, 0))?,
    };
    listener.listen(backlog.try_into().unwrap_or(usize::MAX))?;
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
