//! How to listen.

use std::io;
use std::net::SocketAddr;

use socket2::{SockRef, Socket};

use super::{TcpListener, TcpSocket, limits, ttl};
use crate::net::ToSocketAddrs;
use crate::net::error::all_failed;
use crate::net::system;

/// How to make a [`TcpListener`].
///
/// ```no_run
/// # async fn listen() -> std::io::Result<()> {
/// use colored::net::ListenOptions;
///
/// let listener = ListenOptions::new().backlog(4096).only_v6(true).listen("[::]:8080").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "options do nothing until `listen` is called and awaited"]
pub struct ListenOptions {
    backlog: u32,
    reuse_address: bool,
    reuse_port: bool,
    only_v6: Option<bool>,
    ttl: Option<u32>,
}

impl Default for ListenOptions {
    fn default() -> ListenOptions {
        ListenOptions::new()
    }
}

impl ListenOptions {
    /// The options of [`TcpListener::bind`].
    pub const fn new() -> ListenOptions {
        ListenOptions {
            backlog: 1024,
            // On Windows the option means that others may take the port over.
            reuse_address: cfg!(not(windows)),
            reuse_port: false,
            only_v6: None,
            ttl: None,
        }
    }

    /// How many connections may wait to be accepted; default 1024. The system may cut it: Linux to
    /// `/proc/sys/net/core/somaxconn`, silently.
    pub const fn backlog(mut self, connections: u32) -> ListenOptions {
        self.backlog = connections;
        self
    }

    /// `SO_REUSEADDR`: whether to listen on a port that connections of a former listener still
    /// linger on; default true, except on Windows, where it would mean something else.
    pub const fn reuse_address(mut self, reuse: bool) -> ListenOptions {
        self.reuse_address = reuse;
        self
    }

    /// `SO_REUSEPORT`: whether several listeners may share the port, between which the system
    /// spreads the connections; default false. Each of them has to ask for it. For a listener on each worker there is
    /// [`listen_per_worker`](ListenOptions::listen_per_worker).
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
    pub const fn reuse_port(mut self, reuse: bool) -> ListenOptions {
        self.reuse_port = reuse;
        self
    }

    /// Whether a listener on an IPv6 address refuses IPv4 connections; default: as the system is
    /// configured. Without effect on an IPv4 address.
    pub const fn only_v6(mut self, only: bool) -> ListenOptions {
        self.only_v6 = Some(only);
        self
    }

    /// The time to live of the packets that accepted connections send, 1 to 255 hops; default: the system's. On an IPv6
    /// address that takes IPv4 connections too it is theirs as well on Linux and Windows; the BSDs and macOS leave them
    /// the system's.
    pub const fn ttl(mut self, hops: u32) -> ListenOptions {
        self.ttl = Some(hops);
        self
    }

    /// Listens on the first of the addresses where that is possible. Port 0 lets the system choose:
    /// see [`TcpListener::local_addr`]. Cancel safe.
    ///
    /// # Errors
    ///
    /// When the name cannot be resolved or no address can be listened on, for instance because the
    /// port is in use ([`AddrInUse`](io::ErrorKind::AddrInUse)). [`named`](crate::io::named) names
    /// every address that was tried. [`InvalidInput`](io::ErrorKind::InvalidInput) if an option is out of its range.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn listen(&self, addr: impl ToSocketAddrs) -> io::Result<TcpListener> {
        self.check()?;
        let target = addr.target()?;
        let mut failed = Vec::new();
        for &addr in &*target.resolve().await? {
            match self.listen_on(addr, |_| Ok(())).and_then(TcpListener::listening) {
                Ok(listener) => return Ok(listener),
                Err(error) => failed.push((addr, error)),
            }
        }
        Err(all_failed("listen on", &target.to_string(), failed))
    }

    /// Whether the options are in their ranges.
    pub(super) fn check(&self) -> io::Result<()> {
        self.ttl.map(|given| limits::hops("ttl", given)).transpose().map(|_| ())
    }

    /// Listens on this address, with what `prepare` does to the socket before.
    pub(super) fn listen_on(
        &self,
        addr: SocketAddr,
        prepare: impl FnOnce(&TcpSocket) -> io::Result<()>,
    ) -> io::Result<system::TcpListener> {
        let prepared = TcpSocket::new_for(addr)?;
        let socket = prepared.socket();
        socket.set_reuse_address(self.reuse_address)?;
        self.set_reuse_port(socket)?;
        if let (Some(only), true) = (self.only_v6, addr.is_ipv6()) {
            socket.set_only_v6(only)?;
        }
        if let Some(given) = self.ttl {
            ttl::set_for_accepted("ttl", &SockRef::from(socket), addr, given)?;
        }
        prepare(&prepared)?;
        prepared.bind_to(addr)?;
        prepared.listen_to(self.backlog)
    }

    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
    fn set_reuse_port(&self, socket: &Socket) -> io::Result<()> {
        if self.reuse_port { socket.set_reuse_port(true) } else { Ok(()) }
    }

    #[cfg(not(all(unix, not(any(target_os = "solaris", target_os = "illumos")))))]
    fn set_reuse_port(&self, _: &Socket) -> io::Result<()> {
        debug_assert!(!self.reuse_port, "there is no way to ask for it on this system");
        Ok(())
    }
}

impl TcpListener {
    /// Listens on the first of the addresses where that is possible, with the defaults of
    /// [`ListenOptions`]. Port 0 lets the system choose. Cancel safe.
    ///
    /// # Errors
    ///
    /// See [`ListenOptions::listen`].
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn bind(addr: impl ToSocketAddrs) -> io::Result<TcpListener> {
        ListenOptions::new().listen(addr).await
    }
}
