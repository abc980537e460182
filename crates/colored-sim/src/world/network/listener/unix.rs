//! Listeners with names in the tree of their host, and connections inside it.

use super::super::end::{Names, Phase};
use super::super::error::error;
use super::super::{Network, Stream};
use super::{Listener, Place, Queue};
use crate::world::Host;
use colored_machine::{BindOptions, Ready};
use std::io::{self, ErrorKind};
use std::os::unix::net::SocketAddr;

/// How many connections wait at a listener.
const BACKLOG: usize = 1024;

impl Listener {
    /// Listens on a name of this host: a path gets a file, which stays when the listener has gone.
    ///
    /// # Errors
    ///
    /// `AddrInUse`, and those of the path.
    pub(crate) fn bind_unix(host: &Host, name: &SocketAddr) -> io::Result<Listener> {
        let file = match name.as_pathname() {
            Some(path) => {
                let made = host.disk_now().create_socket(path);
                Some(made.map_err(|failed| match failed.kind() {
                    ErrorKind::AlreadyExists => error(ErrorKind::AddrInUse),
                    _ => failed,
                })?)
            }
            None => None,
        };
        let mut network = host.world.network();
        let is_taken = |queue: &Queue| is_at(&queue.place, name);
        if file.is_none() && network.find_listener(host.number, is_taken).is_some() {
            return Err(error(ErrorKind::AddrInUse));
        }
        let place = Place::Unix(name.clone(), file);
        let queue = network.add_listener(host.number, place, BACKLOG, BindOptions::default());
        Ok(Listener { host: host.clone(), queue })
    }
}

/// Whether the place has this abstract name. Names can only be compared as texts.
fn is_at(place: &Place, name: &SocketAddr) -> bool {
    matches!(place, Place::Unix(at, None) if format!("{at:?}") == format!("{name:?}"))
}

impl Stream {
    /// Connects within this host.
    ///
    /// # Errors
    ///
    /// `ConnectionRefused` if nobody listens, `WouldBlock` if too many wait, and those of the path.
    pub(crate) fn connect_unix(host: &Host, name: &SocketAddr) -> io::Result<Stream> {
        let file = match name.as_pathname() {
            Some(path) => {
                let found = host.disk_now().socket_at(path)?;
                Some(found.ok_or_else(|| error(ErrorKind::ConnectionRefused))?)
            }
            None => None,
        };
        let mut network = host.world.network();
        let found = network.find_listener(host.number, |queue| match (&queue.place, file) {
            (Place::Unix(_, at), Some(_)) => *at == file,
            (place, _) => is_at(place, name),
        });
        let found = found.ok_or_else(|| error(ErrorKind::ConnectionRefused))?;
        let queue = &network.listeners[found];
        if queue.waiting.len() >= queue.backlog {
            return Err(error(ErrorKind::WouldBlock));
        }
        // The name by which the listener was bound.
        let Place::Unix(bound, _) = &queue.place else { unreachable!("it was found by its name") };
        let end = network.add_pair(host.number, Some(bound.clone()));
        let queue = &mut network.listeners[found];
        queue.waiting.push_back(end + 1);
        let tasks = queue.tasks.clone();
        network.mark(tasks.as_ref(), Ready::READABLE);
        Ok(Stream { host: host.clone(), end, bound: None })
    }

    pub(crate) fn unix_pair(host: &Host) -> (Stream, Stream) {
        let end = host.world.network().add_pair(host.number, None);
        let of = |end| Stream { host: host.clone(), end, bound: None };
        (of(end), of(end + 1))
    }
}

impl Network<'_> {
    /// The number of the listener of this host that is like this.
    fn find_listener(&self, host: usize, is_it: impl Fn(&Queue) -> bool) -> Option<usize> {
        let is_open = |queue: &Queue| queue.host == host && !queue.is_closed;
        self.listeners.iter().position(|queue| is_open(queue) && is_it(queue))
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
