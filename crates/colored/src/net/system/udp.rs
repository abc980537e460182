//! UDP.

use std::io;
use std::net::{self, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

use colored_machine::{self as machine, Datagrams};

use super::either::{Either, Kind};
use crate::net::system::plain;

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
        Either::open(|| mio::net::UdpSocket::bind(addr), |machine| machine.bind_datagrams(addr))
    }

    pub(in crate::net) fn connect(&self, addr: SocketAddr) -> io::Result<()> {
        self.ask(|socket| socket.connect(addr), |of| of.connect(addr))
    }

    pub(in crate::net) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.ask(mio::net::UdpSocket::local_addr, machine::Socket::local_addr)
    }

    pub(in crate::net) fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.ask(mio::net::UdpSocket::peer_addr, Datagrams::peer_addr)
    }

    pub(in crate::net) fn send(&self, datagram: &[u8]) -> io::Result<usize> {
        self.ask(|socket| socket.send(datagram), |of| of.send(datagram, None))
    }

    pub(in crate::net) fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.ask(|socket| socket.send_to(datagram, to), |of| of.send(datagram, Some(to)))
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
    socket.ask(plain::peek_sender, |of| of.receive(&mut [], true).map(|(_, from)| from))
}

pub(in crate::net) fn udp_into_std(socket: UdpSocket) -> net::UdpSocket {
    plain::udp_into_std(socket.into_system())
}
