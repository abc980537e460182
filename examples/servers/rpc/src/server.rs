//! [`Server`]: connections over TCP.

use crate::connection::{Connection, Limits};
use crate::table::Services;
use colored::Color;
use colored::net::{TcpListener, ToSocketAddrs};
use colored::sync::Semaphore;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// The connections that are open at the same time, by default.
const CONNECTIONS: usize = 1024;

/// A server over TCP. For TLS, a program accepts by itself and opens a [`Connection`] over each stream.
pub struct Server {
    listener: TcpListener,
    services: Services,
    limits: Limits,
    connections: usize,
    color: Box<dyn Fn(SocketAddr) -> Color + Send + Sync>,
}

impl Server {
    /// Listens. Cancel safe.
    ///
    /// # Errors
    ///
    /// Those of [`TcpListener::bind`].
    pub async fn bind(addr: impl ToSocketAddrs, services: Services) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind(addr).await?,
            services,
            limits: Limits::default(),
            connections: CONNECTIONS,
            color: Box::new(|_| Color::unique()),
        })
    }

    /// The limits of each connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many connections may be open at the same time. Further ones wait in the queue of the system. Default: 1,024.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// The color of the connection of a client. Default: a unique one for each.
    #[must_use]
    pub fn color(mut self, color: impl Fn(SocketAddr) -> Color + Send + Sync + 'static) -> Self {
        self.color = Box::new(color);
        self
    }

    /// The address of the server, with the port that the system chose.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts connections and serves them, for ever. If the future is dropped, the server accepts no more, and the open
    /// connections go on.
    pub async fn run(self) {
        let open = Arc::new(Semaphore::new(self.connections));
        while let Ok(permit) = Arc::clone(&open).acquire_owned().await {
            // After an error the listener waits before it accepts again.
            let Ok((stream, peer)) = self.listener.accept().await else { continue };
            // Without, a reply may wait for the acknowledgement of the one before.
            let _ = stream.set_nodelay(true);
            let connection = Connection::over(stream).serve(self.services.clone()).peer(peer);
            let limits = self.limits.clone();
            drop(connection.color((self.color)(peer)).limits(limits).hold(permit).open());
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("listener", &self.listener).finish_non_exhaustive()
    }
}
