//! The addresses of hosts: the host of number `n` is 10.0.0.`n + 1`, and fd00::`n + 1`.

use super::Network;
use super::error::error;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The first port that a host gives by itself.
pub(super) const FIRST_PORT: u16 = 49_152;

pub(crate) fn v4(host: usize) -> IpAddr {
    let [.., high, low] = (host + 1).to_be_bytes();
    Ipv4Addr::new(10, 0, high, low).into()
}

pub(crate) fn v6(host: usize) -> IpAddr {
    let low = (host + 1).try_into().unwrap_or(u16::MAX);
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, low).into()
}

/// The number of the host of this address, seen from a host. There need not be one of this number.
pub(super) fn host_of(from: usize, ip: IpAddr) -> Option<usize> {
    let ip = ip.to_canonical();
    if ip.is_loopback() || ip.is_unspecified() {
        return Some(from);
    }
    let number = match ip {
        IpAddr::V4(ip) => match ip.octets() {
            [10, 0, high, low] => usize::from(u16::from_be_bytes([high, low])),
            _ => return None,
        },
        IpAddr::V6(ip) => match ip.segments() {
            [0xfd00, 0, 0, 0, 0, 0, 0, low] => usize::from(low),
            _ => return None,
        },
    };
    number.checked_sub(1)
}

/// The address from which a host reaches that one. Of an address of IPv6 that means one of IPv4, it is such a one.
pub(super) fn source(from: usize, to: IpAddr) -> IpAddr {
    match to.to_canonical() {
        of if of.is_loopback() => to,
        IpAddr::V4(of) if of.is_unspecified() => like(to, Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(of) if of.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) => like(to, v4(from)),
        IpAddr::V6(_) => v6(from),
    }
}

/// As a socket that has addresses like this one shows an address: one for IPv6 shows those of IPv4 mapped.
pub(super) fn like(own: IpAddr, ip: IpAddr) -> IpAddr {
    match (own, ip) {
        (IpAddr::V6(_), IpAddr::V4(ip)) => ip.to_ipv6_mapped().into(),
        (IpAddr::V4(_), _) => ip.to_canonical(),
        _ => ip,
    }
}

/// As [`like`], with a port.
pub(super) fn shown(own: SocketAddr, addr: SocketAddr) -> SocketAddr {
    SocketAddr::new(like(own.ip(), addr.ip()), addr.port())
}

/// Without the form of IPv6 that means IPv4.
pub(super) fn canonical(addr: SocketAddr) -> SocketAddr {
    SocketAddr::new(addr.ip().to_canonical(), addr.port())
}

/// What a socket is bound to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) addr: SocketAddr,
    /// One for IPv6 takes nothing of IPv4.
    pub(super) only_v6: bool,
}

impl Bound {
    /// Whether it is bound to all addresses of the kind of this one.
    fn is_any(self, of: IpAddr) -> bool {
        let ip = self.addr.ip();
        ip.is_unspecified() && (ip.is_ipv4() == of.is_ipv4() || ip.is_ipv6() && !self.only_v6)
    }

    /// Whether what is sent to `to` arrives there.
    pub(super) fn takes(self, to: SocketAddr) -> bool {
        let (ip, to_ip) = (self.addr.ip().to_canonical(), to.ip().to_canonical());
        let is_same = ip == to_ip || (to_ip.is_unspecified() && ip.is_loopback());
        self.addr.port() == to.port() && (self.is_any(to_ip) || is_same)
    }

    /// Whether another socket cannot be bound so at once.
    pub(super) fn collides(self, other: Bound) -> bool {
        let (ip, other_ip) = (self.addr.ip().to_canonical(), other.addr.ip().to_canonical());
        let any = self.is_any(other_ip) || other.is_any(ip);
        self.addr.port() == other.addr.port() && (any || ip == other_ip)
    }
}

impl Network<'_> {
    /// The address to bind to, with a port that is free. `is_taken` knows the others of this kind.
    pub(super) fn choose_address(
        &mut self,
        host: usize,
        addr: SocketAddr,
        is_taken: impl Fn(&Self, SocketAddr) -> bool,
    ) -> io::Result<SocketAddr> {
        if self.host_of(host, addr.ip()) != Some(host) {
            return Err(error(ErrorKind::AddrNotAvailable));
        }
        if addr.port() != 0 {
            return if is_taken(self, addr) { Err(error(ErrorKind::AddrInUse)) } else { Ok(addr) };
        }
        for _ in FIRST_PORT..u16::MAX {
            let addr = SocketAddr::new(addr.ip(), self.take_port(host));
            if !is_taken(self, addr) {
                return Ok(addr);
            }
        }
        Err(error(ErrorKind::AddrInUse))
    }

    /// The next port of those that a host gives by itself.
    pub(super) fn take_port(&mut self, host: usize) -> u16 {
        let next = &mut self.machines[host].next_port;
        let port = *next;
        *next = if port == u16::MAX { FIRST_PORT } else { port + 1 };
        port
    }

    /// The error of an address of no host.
    #[cold]
    pub(super) fn no_host(&self, ip: IpAddr) -> io::Error {
        let names = self.world.names().iter().enumerate();
        let hosts: Vec<_> = names.map(|(host, name)| format!("{name} ({})", v4(host))).collect();
        let text = format!("{ip} is no host of this simulation, which has {}", hosts.join(", "));
        io::Error::new(ErrorKind::HostUnreachable, text)
    }
}
