//! UDP.

use std::io;
use std::net::{self, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

use colored_machine::Datagrams;

use super::either::{Either, Kind};
use crate::net::system::plain;
use crate::services::current;

pub(in crate::net) type UdpSocket = Either<mio::net::UdpSocket>;

impl Kind for mio::net::UdpSocket {
    type Simulated = dyn Datagrams;

    fn unbound() -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        Ok(Self::from_std(socket.into()))
    }
}

impl UdpSocket {
    pub(in crate::net) fn from_std(socket: net::UdpSocket) -> Self {
        Either::System(mio::net::UdpSocket::from_std(socket))
    }

    pub(in crate::net) fn bind(addr: SocketAddr) -> io::Result<Self> {
        match current::machine() {
            None => mio::net::UdpSocket::bind(addr).map(Either::System),
            Some(machine) => {
                machine.try_map(|machine| machine.bind_datagrams(addr)).map(Either::simulated)
            }
        }
    }

    pub(in crate::net) fn connect(&self, addr: SocketAddr) -> io::Result<()> {
        match self {
            Either::System(socket) => socket.connect(addr),
            Either::Simulated(of) => of.socket.connect(addr),
        }
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::System(socket) => socket.local_addr(),
            Either::Simulated(of) => of.socket.local_addr(),
        }
    }

    pub(in crate::net) fn peer_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Either::System(socket) => socket.peer_addr(),
            Either::Simulated(of) => of.socket.peer_addr(),
        }
    }

    pub(in crate::net) fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Either::System(socket) => socket.take_error(),
            Either::Simulated(of) => Ok(of.socket.take_error()),
        }
    }

    pub(in crate::net) fn send(&self, datagram: &[u8]) -> io::Result<usize> {
        match self {
            Either::System(socket) => socket.send(datagram),
            Either::Simulated(of) => of.socket.send(datagram, None),
        }
    }

    pub(in crate::net) fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        match self {
            Either::System(socket) => socket.send_to(datagram, to),
            Either::Simulated(of) => of.socket.send(datagram, Some(to)),
        }
    }

    pub(in crate::net) fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Either::System(socket) => socket.recv(buf),
            Either::Simulated(of) => of.socket.receive(buf, false).map(|(len, _)| len),
        }
    }

    pub(in crate::net) fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        match self {
            Either::System(socket) => socket.recv_from(buf),
            Either::Simulated(of) => of.socket.receive(buf, false),
        }
    }

    pub(in crate::net) fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.peek_from(buf).map(|(len, _)| len)
    }

    pub(in crate::net) fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        match self {
            Either::System(socket) => socket.peek_from(buf),
            Either::Simulated(of) => of.socket.receive(buf, true),
        }
    }

    pub(in crate::net) fn join_multicast_v4(
        &self,
        group: &Ipv4Addr,
        interface: &Ipv4Addr,
    ) -> io::Result<()> {
        self.may_join()?.join_multicast_v4(group, interface)
    }

    pub(in crate::net) fn join_multicast_v6(
        &self,
        group: &Ipv6Addr,
        interface: u32,
    ) -> io::Result<()> {
        self.may_join()?.join_multicast_v6(group, interface)
    }

    fn may_join(&self) -> io::Result<&mio::net::UdpSocket> {
        match self {
            Either::System(socket) => Ok(socket),
            Either::Simulated(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "a simulated network has no multicast: send to each host",
            )),
        }
    }
}

/// Whom the next datagram is from.
pub(in crate::net) fn peek_sender(socket: &UdpSocket) -> io::Result<SocketAddr> {
    match socket {
        Either::System(socket) => plain::peek_sender(socket),
        Either::Simulated(of) => of.socket.receive(&mut [], true).map(|(_, from)| from),
    }
}

pub(in crate::net) fn udp_into_std(socket: UdpSocket) -> net::UdpSocket {
    plain::udp_into_std(socket.into_system())
}
