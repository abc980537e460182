//! [`Listener`]: listening and connecting.

mod taken;
#[cfg(unix)]
mod unix;

use super::address::{self, Bound};
use super::end::{End, Names, Phase, Segment};
use super::error::error;
use super::stream::crashed;
use super::{Network, Packet, Stream};
use crate::world::{Fault, Host};
use colored_machine::{self as machine, BindOptions, Ready, Socket, Tasks};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;

/// Where a listener listens.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Inet(Bound),
    /// The name, and the file, unless the name is abstract.
    #[cfg(unix)]
    Unix(std::os::unix::net::SocketAddr, Option<u64>),
}

/// The connections that wait at a listener.
pub(super) struct Queue {
    pub(super) host: usize,
    boots: u64,
    place: Place,
    /// Ends of them.
    waiting: VecDeque<usize>,
    backlog: usize,
    sharing: BindOptions,
    /// Otherwise the address is only reserved.
    listens: bool,
    tasks: Option<Arc<dyn Tasks>>,
    is_closed: bool,
}

/// A simulated listener, or a socket that is bound only. Dropping it closes it.
pub(crate) struct Listener {
    host: Host,
    queue: usize,
}

/// When a connection that found the queue full is tried again.
const AGAIN_AFTER: u64 = 1_000_000_000;

impl Listener {
    /// Binds a socket to an address of this host. It does not listen.
    ///
    /// # Errors
    ///
    /// `AddrInUse`, `AddrNotAvailable`.
    pub(crate) fn bind(
        host: &Host,
        addr: SocketAddr,
        options: BindOptions,
    ) -> io::Result<Listener> {
        let only_v6 = options.only_v6;
        let mut network = host.world.network();
        let number = host.number;
        let addr = network.choose_address(number, addr, |network, addr| {
            network.is_taken(number, Bound { addr, only_v6 }, options)
        })?;
        let place = Place::Inet(Bound { addr, only_v6 });
        let queue = network.add_listener(number, place, 0, options);
        Ok(Listener { host: host.clone(), queue })
    }

    /// Listens from now on. At most `backlog` connections wait.
    ///
    /// # Errors
    ///
    /// `AddrInUse` if another one does.
    pub(super) fn listen(&self, backlog: usize) -> io::Result<()> {
        let mut network = self.host.world.network();
        let own = match network.listeners[self.queue].place {
            Place::Inet(own) => own,
            #[cfg(unix)]
            Place::Unix(..) => return Ok(()),
        };
        let shares = network.listeners[self.queue].sharing.shares;
        let is_taken = network.listeners.iter().any(|of| {
            let bound = of.inet(self.host.number).filter(|_| of.listens);
            bound.is_some_and(|bound| bound.collides(own)) && !(shares && of.sharing.shares)
        });
        if is_taken {
            return Err(error(ErrorKind::AddrInUse));
        }
        let queue = &mut network.listeners[self.queue];
        (queue.listens, queue.backlog) = (true, backlog.max(1));
        Ok(())
    }
}

impl Socket for Listener {
    fn attach(&self, tasks: Arc<dyn Tasks>) {
        let mut network = self.host.world.network();
        if !network.listeners[self.queue].waiting.is_empty() {
            network.mark(Some(&tasks), Ready::READABLE);
        }
        network.listeners[self.queue].tasks = Some(tasks);
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        match self.host.world.network().listeners[self.queue].place {
            Place::Inet(bound) => Ok(bound.addr),
            #[cfg(unix)]
            Place::Unix(..) => Err(error(ErrorKind::InvalidInput)),
        }
    }

    fn take_error(&self) -> Option<io::Error> {
        None
    }
}

impl machine::Listener for Listener {
    fn accept(&self) -> io::Result<Box<dyn machine::Stream>> {
        let mut network = self.host.world.network();
        let queue = &mut network.listeners[self.queue];
        if queue.is_closed {
            return Err(crashed());
        }
        match queue.waiting.pop_front() {
            Some(end) => Ok(Box::new(Stream { host: self.host.clone(), end, bound: None })),
            None => Err(error(ErrorKind::WouldBlock)),
        }
    }

    #[cfg(unix)]
    fn unix_addr(&self) -> Option<std::os::unix::net::SocketAddr> {
        match &self.host.world.network().listeners[self.queue].place {
            Place::Unix(name, _) => Some(name.clone()),
            Place::Inet(_) => None,
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
        self.tasks = None;
        self.waiting.clear();
    }

    /// Its internet address, if it has one on this host.
    fn inet(&self, host: usize) -> Option<Bound> {
        match self.place {
            Place::Inet(bound) if !self.is_closed && self.host == host => Some(bound),
            _ => None,
        }
    }
}

impl Stream {
    /// Begins to connect, from the address of a socket that is bound, or from any.
    ///
    /// # Errors
    ///
    /// `HostUnreachable` for an address of no host, and the errors of an address of this side.
    pub(crate) fn connect(
        host: &Host,
        bound: Option<Listener>,
        remote: SocketAddr,
    ) -> io::Result<Stream> {
        let own = match &bound {
            Some(bound) => Some(bound.local_addr()?),
            None => None,
        };
        let mut network = host.world.network();
        let from = host.number;
        let to = network.host_of(from, remote.ip());
        let to = to.ok_or_else(|| network.no_host(remote.ip()))?;
        // A connection to all addresses is one to the own host.
        let source = address::source(from, remote.ip());
        let remote = match remote.ip().to_canonical().is_unspecified() {
            true => SocketAddr::new(source, remote.port()),
            false => remote,
        };
        let local = match own {
            Some(own) if own.ip().is_unspecified() => SocketAddr::new(source, own.port()),
            Some(own) => own,
            None => {
                let any = SocketAddr::new(source, 0);
                // Two connections may have one port, if they go to different places.
                network.choose_address(from, any, |network, addr| {
                    let bound = Bound { addr, only_v6: false };
                    network.is_taken_by_socket(from, bound, BindOptions::default())
                })?
            }
        };
        let (server, client) = (address::canonical(remote), address::canonical(local));
        let asks = network.add_ends(
            (from, Names::Inet { local, remote }),
            (to, Names::Inet { local: server, remote: client }),
        );
        network.ends[asks].reuses =
            bound.as_ref().is_some_and(|of| network.listeners[of.queue].sharing.reuses);
        network.send(asks + 1, Segment::Ask);
        drop(network);
        Ok(Stream { host: host.clone(), end: asks, bound })
    }
}

impl Network<'_> {
    fn add_listener(
        &mut self,
        host: usize,
        place: Place,
        backlog: usize,
        sharing: BindOptions,
    ) -> usize {
        let boots = self.machines[host].boots;
        self.listeners.push(Queue {
            host,
            boots,
            place,
            waiting: VecDeque::new(),
            backlog,
            sharing,
            listens: backlog > 0,
            tasks: None,
            is_closed: false,
        });
        self.listeners.len() - 1
    }

    /// Adds the two ends of a connection, and returns the number of the first.
    fn add_ends(&mut self, one: (usize, Names), other: (usize, Names)) -> usize {
        let number = self.ends.len();
        for ((host, names), peer) in [(one, number + 1), (other, number)] {
            let is_small = self.world.fault(Fault::Pieces, host);
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
        let listens = |queue: &Queue| {
            queue.listens && queue.inet(host).is_some_and(|bound| bound.takes(local))
        };
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
        let (tasks, boots, reuses) = (queue.tasks.clone(), queue.boots, queue.sharing.reuses);
        let bound = queue.inet(host).map_or(local, |bound| bound.addr);
        match &mut self.ends[end].names {
            Names::Inet { local, remote } => {
                (*local, *remote) = (address::shown(bound, *local), address::shown(bound, *remote));
            }
            #[cfg(unix)]
            Names::Unix { .. } => {}
        }
        self.ends[end].boots = boots;
        self.ends[end].reuses = reuses;
        self.ends[end].phase = Phase::Open;
        self.mark(tasks.as_ref(), Ready::READABLE);
        self.send(peer, Segment::Taken);
    }
}
