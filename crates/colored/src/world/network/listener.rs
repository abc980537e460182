//! [`Listener`]: listening and connecting.

use super::end::{End, Names, Phase, Segment};
use super::stream::crashed;
use super::{Network, Packet, Stream, address};
use crate::driver::reactor::{Entry, Ready};
use crate::world::{Family, Host};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;

/// Where a listener listens.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Inet(SocketAddr),
    #[cfg(unix)]
    Unix(std::os::unix::net::SocketAddr),
}

/// The connections that wait at a listener.
pub(super) struct Queue {
    pub(super) host: usize,
    boots: u64,
    place: Place,
    /// Ends of them.
    waiting: VecDeque<usize>,
    backlog: usize,
    /// Others may listen at the same place.
    shares: bool,
    entry: Option<Arc<Entry>>,
    is_closed: bool,
}

/// A simulated listener. Dropping it closes it.
pub(crate) struct Listener {
    host: Arc<Host>,
    queue: usize,
}

/// When a connection that found the queue full is tried again.
const AGAIN_AFTER: u64 = 1_000_000_000;

impl Listener {
    /// Listens on an address of this host. At most `backlog` connections wait.
    ///
    /// # Errors
    ///
    /// `AddrInUse`, `AddrNotAvailable`.
    pub(crate) fn bind(
        host: &Arc<Host>,
        addr: SocketAddr,
        backlog: usize,
        shares: bool,
    ) -> io::Result<Listener> {
        let mut network = host.world.network();
        let number = host.number;
        let addr = network.choose_address(number, addr, |network, addr| {
            network.listeners.iter().any(|queue| {
                let Some(bound) = queue.inet(number) else { return false };
                address::collide(bound, addr) && !(shares && queue.shares)
            })
        })?;
        let queue = network.add_listener(number, Place::Inet(addr), backlog, shares);
        Ok(Listener { host: Arc::clone(host), queue })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self.host.world.network().listeners[self.queue].place {
            Place::Inet(addr) => Ok(addr),
            #[cfg(unix)]
            Place::Unix(_) => Err(ErrorKind::InvalidInput.into()),
        }
    }

    /// From now on the tasks of this entry are told.
    pub(crate) fn attach(&self, entry: &Arc<Entry>) {
        let mut network = self.host.world.network();
        let queue = &mut network.listeners[self.queue];
        queue.entry = Some(Arc::clone(entry));
        if !queue.waiting.is_empty() {
            network.mark(Some(entry), Ready::READABLE);
        }
    }

    /// Takes a connection that waits.
    pub(crate) fn accept(&self) -> io::Result<Stream> {
        let mut network = self.host.world.network();
        let queue = &mut network.listeners[self.queue];
        if queue.is_closed {
            return Err(crashed());
        }
        match queue.waiting.pop_front() {
            Some(end) => Ok(Stream { host: Arc::clone(&self.host), end }),
            None => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut network = self.host.world.network();
        let queue = &mut network.listeners[self.queue];
        // After a crash there is nobody to tell it.
        if !queue.is_closed {
            let waiting = std::mem::take(&mut queue.waiting);
            queue.close();
            waiting.into_iter().for_each(|end| network.break_off(end));
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = self.host.world.network();
        f.debug_tuple("simulated").field(&network.listeners[self.queue].place).finish()
    }
}

impl Queue {
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.entry = None;
        self.waiting.clear();
    }

    /// Its internet address, if it listens at one on this host.
    fn inet(&self, host: usize) -> Option<SocketAddr> {
        match self.place {
            Place::Inet(addr) if !self.is_closed && self.host == host => Some(addr),
            _ => None,
        }
    }
}

impl Stream {
    /// Begins to connect.
    ///
    /// # Errors
    ///
    /// `HostUnreachable` for an address of no host, and the errors of an address of this side.
    pub(crate) fn connect(
        host: &Arc<Host>,
        local: Option<SocketAddr>,
        remote: SocketAddr,
    ) -> io::Result<Stream> {
        let mut network = host.world.network();
        let from = host.number;
        let to = network.host_of(from, remote.ip());
        let to = to.ok_or_else(|| network.no_host(remote.ip()))?;
        let own = SocketAddr::new(address::source(from, remote.ip()), 0);
        let local = network.choose_address(from, local.unwrap_or(own), |_, _| false)?;
        let ip = if local.ip().is_unspecified() { own.ip() } else { local.ip() };
        let local = SocketAddr::new(ip, local.port());
        let remote = if remote.ip().is_unspecified() {
            SocketAddr::new(own.ip(), remote.port())
        } else {
            remote
        };
        let asks = network.add_ends(
            (from, Names::Inet { local, remote }),
            (to, Names::Inet { local: remote, remote: local }),
        );
        network.send(asks + 1, Segment::Ask);
        Ok(Stream { host: Arc::clone(host), end: asks })
    }
}

impl Network<'_> {
    fn add_listener(&mut self, host: usize, place: Place, backlog: usize, shares: bool) -> usize {
        let boots = self.machines[host].boots;
        self.listeners.push(Queue {
            host,
            boots,
            place,
            waiting: VecDeque::new(),
            backlog: backlog.max(1),
            shares,
            entry: None,
            is_closed: false,
        });
        self.listeners.len() - 1
    }

    /// Adds the two ends of a connection, and returns the number of the first.
    fn add_ends(&mut self, one: (usize, Names), other: (usize, Names)) -> usize {
        let number = self.ends.len();
        for ((host, names), peer) in [(one, number + 1), (other, number)] {
            let is_small = self.world.fault(Family::Pieces, host);
            let boots = self.machines[host].boots;
            self.ends.push(End::new(host, boots, names, peer, is_small));
        }
        number
    }

    /// A connection asks for a listener.
    pub(super) fn ask(&mut self, end: usize) {
        let (host, peer) = (self.ends[end].host, self.ends[end].peer);
        #[cfg_attr(not(unix), expect(irrefutable_let_patterns, reason = "there is no other kind"))]
        let Names::Inet { local, .. } = self.ends[end].names else { return };
        let listens = |queue: &Queue| queue.inet(host).is_some_and(|at| address::takes(at, local));
        let found = (0..self.listeners.len()).filter(|of| listens(&self.listeners[*of]));
        // Of several the one with the shortest queue.
        let Some(found) = found.min_by_key(|of| self.listeners[*of].waiting.len()) else {
            self.ends[end].close();
            return self.send(peer, Segment::Reset);
        };
        let queue = &mut self.listeners[found];
        if queue.waiting.len() >= queue.backlog {
            let due = self.world.now() + AGAIN_AFTER;
            self.ends[end].last_due = due;
            return self.post(host, due, Packet::Segment(end, Segment::Ask));
        }
        queue.waiting.push_back(end);
        let (entry, boots) = (queue.entry.clone(), queue.boots);
        self.ends[end].boots = boots;
        self.ends[end].phase = Phase::Open;
        self.mark(entry.as_ref(), Ready::READABLE);
        self.send(peer, Segment::Taken);
    }
}

#[cfg(unix)]
mod unix {
    use super::{Arc, ErrorKind, Host, Listener, Names, Network, Phase, Place, Ready, Stream, io};
    use std::os::unix::net::SocketAddr;

    impl Listener {
        /// Listens on a name of this host.
        ///
        /// # Errors
        ///
        /// `AddrInUse`.
        pub(crate) fn bind_unix(host: &Arc<Host>, name: &SocketAddr) -> io::Result<Listener> {
            let mut network = host.world.network();
            if network.listener_at(host.number, name).is_some() {
                return Err(ErrorKind::AddrInUse.into());
            }
            let queue = network.add_listener(host.number, Place::Unix(name.clone()), 1024, false);
            Ok(Listener { host: Arc::clone(host), queue })
        }

        pub(crate) fn unix_addr(&self) -> Option<SocketAddr> {
            match &self.host.world.network().listeners[self.queue].place {
                Place::Unix(name) => Some(name.clone()),
                Place::Inet(_) => None,
            }
        }
    }

    impl Stream {
        /// Connects within this host.
        ///
        /// # Errors
        ///
        /// `NotFound` if nobody listens, `WouldBlock` if too many wait.
        pub(crate) fn connect_unix(host: &Arc<Host>, name: &SocketAddr) -> io::Result<Stream> {
            let mut network = host.world.network();
            let found = network.listener_at(host.number, name).ok_or(ErrorKind::NotFound)?;
            let queue = &network.listeners[found];
            if queue.waiting.len() >= queue.backlog {
                return Err(ErrorKind::WouldBlock.into());
            }
            let end = network.add_pair(host.number, Some(name.clone()));
            let queue = &mut network.listeners[found];
            queue.waiting.push_back(end + 1);
            let entry = queue.entry.clone();
            network.mark(entry.as_ref(), Ready::READABLE);
            Ok(Stream { host: Arc::clone(host), end })
        }

        pub(crate) fn unix_pair(host: &Arc<Host>) -> (Stream, Stream) {
            let end = host.world.network().add_pair(host.number, None);
            let of = |end| Stream { host: Arc::clone(host), end };
            (of(end), of(end + 1))
        }
    }

    impl Network<'_> {
        fn listener_at(&self, host: usize, name: &SocketAddr) -> Option<usize> {
            // They can only be compared as texts.
            let name = format!("{name:?}");
            self.listeners.iter().position(|queue| match &queue.place {
                Place::Unix(at) => {
                    queue.host == host && !queue.is_closed && format!("{at:?}") == name
                }
                Place::Inet(_) => false,
            })
        }

        /// Adds the ends of a connection inside a host; the second one is `server`'s.
        fn add_pair(&mut self, host: usize, server: Option<SocketAddr>) -> usize {
            let one = Names::Unix { local: None, remote: server.clone() };
            let other = Names::Unix { local: server, remote: None };
            let end = self.add_ends((host, one), (host, other));
            self.ends[end].phase = Phase::Open;
            self.ends[end + 1].phase = Phase::Open;
            end
        }
    }
}
