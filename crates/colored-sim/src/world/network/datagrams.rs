//! [`Datagrams`]: UDP.

use super::address::{self, Bound};
use super::error::{error, no_destination, too_long, wrong_family};
use super::stream::crashed;
use super::{Network, Packet};
use crate::world::{Fault, Host};
use colored_machine::{self as machine, Ready, Socket, Tasks};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;

/// A datagram on its way.
#[derive(Clone)]
pub(super) struct Datagram {
    /// The socket that has sent it.
    socket: usize,
    from: SocketAddr,
    to: SocketAddr,
    /// The hosts.
    ways: (usize, usize),
    data: Arc<[u8]>,
}

impl Datagram {
    /// The host that has sent it.
    pub(super) fn sender(&self) -> usize {
        self.ways.0
    }
}

/// What has arrived at a socket.
pub(super) struct Queue {
    pub(super) host: usize,
    bound: Bound,
    peer: Option<SocketAddr>,
    arrived: VecDeque<(SocketAddr, Arc<[u8]>)>,
    bytes: usize,
    error: Option<ErrorKind>,
    tasks: Option<Arc<dyn Tasks>>,
    is_closed: bool,
}

/// A simulated UDP socket. Dropping it closes it.
pub(crate) struct Datagrams {
    host: Host,
    socket: usize,
}

/// The longest datagram, and how many bytes wait at a socket at most, as by default on Linux.
const LONGEST: usize = 65_507;
const MOST_BYTES: usize = 212_992;

impl Datagrams {
    /// Binds a socket to an address of this host.
    ///
    /// # Errors
    ///
    /// `AddrInUse`, `AddrNotAvailable`.
    pub(crate) fn bind(host: &Host, addr: SocketAddr) -> io::Result<Datagrams> {
        let mut network = host.world.network();
        let addr = network.choose_address(host.number, addr, |network, addr| {
            let mut others = network.datagrams.iter();
            let bound = Bound { addr, only_v6: false };
            others.any(|of| of.host == host.number && !of.is_closed && of.bound.collides(bound))
        })?;
        let bound = Bound { addr, only_v6: false };
        network.datagrams.push(Queue {
            host: host.number,
            bound,
            peer: None,
            arrived: VecDeque::new(),
            bytes: 0,
            error: None,
            tasks: None,
            is_closed: false,
        });
        Ok(Datagrams { host: host.clone(), socket: network.datagrams.len() - 1 })
    }
}

impl Socket for Datagrams {
    fn attach(&self, tasks: Arc<dyn Tasks>) {
        let mut network = self.host.world.network();
        let queue = &mut network.datagrams[self.socket];
        let readable = if queue.arrived.is_empty() { Ready::EMPTY } else { Ready::READABLE };
        queue.tasks = Some(Arc::clone(&tasks));
        network.mark(Some(&tasks), readable | Ready::WRITABLE);
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.host.world.network().datagrams[self.socket].bound.addr)
    }

    fn take_error(&self) -> Option<io::Error> {
        self.host.world.network().datagrams[self.socket].error.take().map(error)
    }
}

impl machine::Datagrams for Datagrams {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        let peer = self.host.world.network().datagrams[self.socket].peer;
        peer.ok_or_else(|| error(ErrorKind::NotConnected))
    }

    fn connect(&self, peer: SocketAddr) -> io::Result<()> {
        let mut network = self.host.world.network();
        if network.host_of(self.host.number, peer.ip()).is_none() {
            return Err(network.no_host(peer.ip()));
        }
        let queue = &mut network.datagrams[self.socket];
        let bound = &mut queue.bound.addr;
        if bound.is_ipv4() && peer.is_ipv6() {
            return Err(wrong_family());
        }
        let peer = address::shown(*bound, peer);
        if bound.ip().is_unspecified() {
            bound.set_ip(address::source(self.host.number, peer.ip()));
        }
        // What has come from others before stays.
        queue.peer = Some(peer);
        Ok(())
    }

    fn send(&self, datagram: &[u8], to: Option<SocketAddr>) -> io::Result<usize> {
        let mut network = self.host.world.network();
        let queue = &mut network.datagrams[self.socket];
        queue.check()?;
        let (bound, to) = (queue.bound.addr, to.or(queue.peer).ok_or_else(no_destination)?);
        if bound.is_ipv4() && to.is_ipv6() {
            return Err(wrong_family());
        }
        if datagram.len() > LONGEST {
            return Err(too_long());
        }
        let (bound, to) = (address::canonical(bound), address::canonical(to));
        let own = self.host.number;
        let host = network.host_of(own, to.ip()).ok_or_else(|| network.no_host(to.ip()))?;
        let ip =
            if bound.ip().is_unspecified() { address::source(own, to.ip()) } else { bound.ip() };
        let from = SocketAddr::new(ip, bound.port());
        let data = datagram.into();
        network.send_datagram(Datagram { socket: self.socket, from, to, ways: (own, host), data });
        Ok(datagram.len())
    }

    fn receive(&self, buf: &mut [u8], peeks: bool) -> io::Result<(usize, SocketAddr)> {
        let mut network = self.host.world.network();
        let queue = &mut network.datagrams[self.socket];
        queue.check()?;
        let (from, data) = queue.arrived.front().ok_or_else(|| error(ErrorKind::WouldBlock))?;
        let (from, len) = (*from, data.len().min(buf.len()));
        buf[..len].copy_from_slice(&data[..len]);
        if !peeks {
            queue.bytes -= data.len();
            queue.arrived.pop_front();
        }
        Ok((len, from))
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        self.host.world.network().datagrams[self.socket].close();
    }
}

impl fmt::Debug for Datagrams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = self.host.world.network().datagrams[self.socket].bound;
        f.debug_tuple("simulated").field(&bound.addr).finish()
    }
}

impl Queue {
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.tasks = None;
        self.arrived.clear();
    }

    /// The error that is to be reported.
    fn check(&mut self) -> io::Result<()> {
        match self.error.take() {
            _ if self.is_closed => Err(crashed()),
            Some(kind) => Err(error(kind)),
            None => Ok(()),
        }
    }
}

impl Network<'_> {
    fn send_datagram(&mut self, datagram: Datagram) {
        let (from, to) = datagram.ways;
        if from == to {
            return self.post(to, self.world.now(), Packet::Datagram(datagram));
        }
        if self.world.fault(Fault::Loss, from) {
            return;
        }
        if self.world.fault(Fault::Doubling, from) {
            let due = self.world.now() + self.latency(from, to);
            self.post(to, due, Packet::Datagram(datagram.clone()));
        }
        let due = self.world.now() + self.latency(from, to);
        self.post(to, due, Packet::Datagram(datagram));
    }

    pub(super) fn deliver_datagram(&mut self, datagram: Datagram) {
        let Datagram { socket, from, to, ways: (sender, host), data } = datagram;
        if self.is_cut(sender, host) || !self.machines[host].is_up {
            return;
        }
        let takes = |queue: &&mut Queue| {
            let is_open = queue.host == host && !queue.is_closed;
            let is_of_peer = |peer| address::canonical(peer) == from;
            is_open && queue.bound.takes(to) && queue.peer.is_none_or(is_of_peer)
        };
        let Some(queue) = self.datagrams.iter_mut().find(takes) else {
            if !self.is_cut(host, sender) {
                let due = self.world.now() + self.latency(host, sender);
                self.post(sender, due, Packet::Unreachable(socket));
            }
            return;
        };
        if queue.bytes + data.len() > MOST_BYTES {
            return;
        }
        queue.bytes += data.len();
        queue.arrived.push_back((address::shown(queue.bound.addr, from), data));
        let tasks = queue.tasks.clone();
        self.mark(tasks.as_ref(), Ready::READABLE);
    }

    /// Only a connected socket hears of it.
    pub(super) fn refuse_datagram(&mut self, socket: usize) {
        let queue = &mut self.datagrams[socket];
        if queue.peer.is_some() && !queue.is_closed {
            queue.error = Some(ErrorKind::ConnectionRefused);
            let tasks = queue.tasks.clone();
            self.mark(tasks.as_ref(), Ready::READABLE | Ready::WRITABLE | Ready::ERROR);
        }
    }
}
