//! The addresses of hosts: the host of number `n` is 10.0.0.`n + 1`, and fd00::`n + 1`.

use super::Network;
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

/// The address from which a host reaches that one.
pub(super) fn source(from: usize, to: IpAddr) -> IpAddr {
    match to {
        to if to.is_loopback() => to,
        IpAddr::V4(to) if to.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(to) if to.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) => v4(from),
        IpAddr::V6(_) => v6(from),
    }
}

/// Whether what is sent to `to` arrives at a socket that is bound to `bound`.
pub(super) fn takes(bound: SocketAddr, to: SocketAddr) -> bool {
    let (ip, to_ip) = (bound.ip().to_canonical(), to.ip().to_canonical());
    // A socket for all IPv6 addresses takes IPv4 as well.
    let is_any = ip.is_unspecified() && (ip.is_ipv6() || to_ip.is_ipv4());
    let is_same = ip == to_ip || (to_ip.is_unspecified() && ip.is_loopback());
    bound.port() == to.port() && (is_any || is_same)
}

/// Whether two sockets cannot be bound to these addresses at once.
pub(super) fn collide(one: SocketAddr, other: SocketAddr) -> bool {
    let any = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() == other.port() && (any || one.ip() == other.ip())
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
            return Err(ErrorKind::AddrNotAvailable.into());
        }
        if addr.port() != 0 {
            return if is_taken(self, addr) { Err(ErrorKind::AddrInUse.into()) } else { Ok(addr) };
        }
        for _ in FIRST_PORT..u16::MAX {
            let addr = SocketAddr::new(addr.ip(), self.take_port(host));
            if !is_taken(self, addr) {
                return Ok(addr);
            }
        }
        Err(ErrorKind::AddrInUse.into())
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
