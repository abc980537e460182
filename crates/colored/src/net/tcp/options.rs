//! The options of a connection.

use std::io;
use std::time::Duration;

use socket2::SockRef;

use super::{KeepAlive, TcpStream, limits, ttl};

impl TcpStream {
    /// Whether small writes are sent at once. See [`set_nodelay`](TcpStream::set_nodelay).
    pub fn nodelay(&self) -> io::Result<bool> {
        self.socket().nodelay()
    }

    /// Turns Nagle's algorithm off (`true`) or on (the default): while sent data is not yet
    /// acknowledged, the system collects small writes.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.socket().set_nodelay(nodelay)
    }

    /// Whether an idle connection is probed. See [`set_keep_alive`](TcpStream::set_keep_alive).
    pub fn keep_alive(&self) -> io::Result<bool> {
        SockRef::from(self.socket()).keepalive()
    }

    /// Probes an idle connection, so that it notices a vanished peer. `None`, the default, does not
    /// probe.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for a value out of the ranges of [`KeepAlive`].
    /// The error names the value, and the connection does not change.
    pub fn set_keep_alive(&self, keep_alive: Option<KeepAlive>) -> io::Result<()> {
        let socket = SockRef::from(self.socket());
        match keep_alive {
            Some(keep_alive) => socket.set_tcp_keepalive(&keep_alive.params()?),
            None => socket.set_keepalive(false),
        }
    }

    /// The treatment of unsent data on close. See [`set_linger`](TcpStream::set_linger).
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        SockRef::from(self.socket()).linger()
    }

    /// Sets what happens to unsent data when the connection is dropped.
    ///
    /// * `None`, the default: the system sends it in the background;
    /// * `Some(Duration::ZERO)`: the system discards it, and the peer sees a reset;
    /// * `Some(time)`, up to 32,767 seconds: the drop **blocks its thread** until the data is
    ///   acknowledged or the time is over. It is better to wait until the peer closes before dropping.
    ///   The system counts in whole seconds, and the time is rounded up, so a time that is not zero
    ///   never becomes a reset.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for a longer time.
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        SockRef::from(self.socket()).set_linger(limits::linger(linger)?)
    }

    /// As [`set_linger`](TcpStream::set_linger) with a time of zero: the drop resets the connection.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    /// The time to live of sent packets, in hops.
    pub fn ttl(&self) -> io::Result<u32> {
        ttl::get(&SockRef::from(self.socket()), self.local_addr()?)
    }

    /// Sets the [`ttl`](TcpStream::ttl), 1 to 255 hops.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for another number.
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        ttl::set("set_ttl", &SockRef::from(self.socket()), self.local_addr()?, hops)
    }
}
