//! [`Coloring`]: which requests may overlap.

use crate::ColoredExecutor;
use colored::{Color, spawn_colored, spawn_unique};
use std::fmt;
use std::net::SocketAddr;

/// Under which colors a server runs its connections and their requests.
///
/// Work of one color never overlaps, work of different colors runs in parallel. Inside a service,
/// [`Color::current`] tells the color; [`hop`](colored::hop) leaves it.
///
/// `P` is how the listener names a [peer](crate::Listener::Peer).
#[derive(Default)]
#[non_exhaustive]
pub enum Coloring<P = SocketAddr> {
    /// Each connection under a fresh color of its own, the requests of an HTTP/2 connection under
    /// that of the connection: connections in parallel, each serial in itself.
    #[default]
    Connection,
    /// Each connection and each HTTP/2 request under a fresh color of its own: everything in
    /// parallel.
    Stream,
    /// Each connection under the color that the function gives to its peer, its requests too. With
    /// `|peer| Color::of(&peer.ip())` all connections of a client are serial, and what is kept for the
    /// client needs no lock.
    Peer(fn(&P) -> Color),
    /// Everything under one color.
    One(Color),
    /// Everything under [`Color::DEFAULT`]: no request overlaps another, nor anything else that names
    /// no color, as in a program with one thread.
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

    /// What spawns the requests of an HTTP/2 connection.
    pub(super) fn of_streams(self) -> ColoredExecutor {
        match self {
            Coloring::Stream => ColoredExecutor::unique(),
            _ => ColoredExecutor::here(),
        }
    }
}
