//! [`Coloring`]: the colors of connections and requests.

use crate::ColoredExecutor;
use colored::{Color, spawn_colored, spawn_unique};
use std::fmt;
use std::net::SocketAddr;

/// The colors under which a server runs its connections and their requests.
///
/// Work of one color never overlaps, work of different colors runs in parallel. Inside a service,
/// [`Color::current`] returns the color, and [`hop`](colored::hop) moves to another one.
///
/// `P` is the listener's type of a [peer](crate::Listener::Peer).
#[derive(Default)]
#[non_exhaustive]
pub enum Coloring<P = SocketAddr> {
    /// Each connection has a fresh color, which is also the color of its HTTP/2 requests: connections
    /// run in parallel, and each is serial in itself.
    #[default]
    Connection,
    /// Each connection and each HTTP/2 request has a fresh color: everything runs in parallel.
    Stream,
    /// Each connection, with its requests, has the color that the function returns for its peer. With
    /// `|peer| Color::of(peer.ip())` all connections of a client are serial, and state of the client
    /// needs no lock.
    Peer(fn(&P) -> Color),
    /// Everything has one color.
    One(Color),
    /// Everything has [`Color::DEFAULT`]: as in a program with one thread, a request overlaps neither
    /// another request nor any task that names no color.
    Default,
}

impl<P> Clone for Coloring<P> {
    fn clone(&self) -> Self {
        *self
    }
}

// By hand: a derive would ask that `P` be the same.
impl<P> Copy for Coloring<P> {}

impl<P> fmt::Debug for Coloring<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coloring::Connection => f.write_str("Connection"),
            Coloring::Stream => f.write_str("Stream"),
            Coloring::Peer(_) => f.write_str("Peer(..)"),
            Coloring::One(color) => f.debug_tuple("One").field(color).finish(),
            Coloring::Default => f.write_str("Default"),
        }
    }
}

impl<P> Coloring<P> {
    /// Spawns the task of a connection.
    pub(super) fn spawn(self, peer: &P, connection: impl Future<Output = ()> + Send + 'static) {
        let task = match self {
            Coloring::Connection | Coloring::Stream => spawn_unique(connection),
            Coloring::Peer(color) => spawn_colored(color(peer), connection),
            Coloring::One(color) => spawn_colored(color, connection),
            Coloring::Default => spawn_colored(Color::DEFAULT, connection),
        };
        // `Drain` keeps account of the connections.
        drop(task);
    }

    /// The color of the accept loop: no connection, and nothing else, holds it up, unless everything has one color.
    pub(super) fn of_accepting(self) -> Option<Color> {
        matches!(self, Coloring::Default).then_some(Color::DEFAULT)
    }

    /// The executor that spawns the requests of an HTTP/2 connection.
    pub(super) fn of_streams(self) -> ColoredExecutor {
        match self {
            Coloring::Stream => ColoredExecutor::unique(),
            _ => ColoredExecutor::here(),
        }
    }
}
