//! TCP connections.

use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr};
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use colored::net::{self, ConnectOptions, ToSocketAddrs};

use super::stream::connection;
use crate::io::{Shared, complete, read_methods, write_methods};

/// A TCP connection that is `Read` and `Write`, and `&TcpStream` as well.
///
/// A program that answers small messages needs [`set_nodelay(true)`](TcpStream::set_nodelay). Dropping the last clone
/// closes the connection, after the system has sent all written data. See [the module](super).
pub struct TcpStream {
    shared: Shared<net::TcpStream>,
}

read_methods!(TcpStream);
write_methods!(TcpStream);
connection!(TcpStream, SocketAddr);

impl TcpStream {
    /// Connects to the first of the addresses that answers. Only the system limits the time, which may be minutes for each
    /// address.
    ///
    /// # Errors
    ///
    /// When the name cannot be resolved or no address answers: the errors of the async [`connect`](net::TcpStream::connect).
    pub fn connect(addr: impl ToSocketAddrs) -> io::Result<TcpStream> {
        complete(net::TcpStream::connect(addr)).map(TcpStream::from)
    }

    /// As [`connect`](TcpStream::connect), in at most this time.
    ///
    /// # Errors
    ///
    /// [`TimedOut`](io::ErrorKind::TimedOut) when the time is over, else the errors of [`connect`](TcpStream::connect).
    pub fn connect_timeout(addr: &SocketAddr, limit: Duration) -> io::Result<TcpStream> {
        let options = ConnectOptions::new().time_limit(limit);
        complete(options.connect(*addr)).map(TcpStream::from)
    }

    /// Whether small packets are sent at once.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.shared.get().nodelay()
    }

    /// Sets [`nodelay`](TcpStream::nodelay). It switches Nagle's algorithm off.
    pub fn set_nodelay(&self, at_once: bool) -> io::Result<()> {
        self.shared.get().set_nodelay(at_once)
    }

    /// The time to live of packets, in hops.
    pub fn ttl(&self) -> io::Result<u32> {
        self.shared.get().ttl()
    }

    /// Sets the [`ttl`](TcpStream::ttl), 1 to 255 hops.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for another number.
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.shared.get().set_ttl(hops)
    }
}

impl TryFrom<std::net::TcpStream> for TcpStream {
    type Error = io::Error;

    /// See [`from_std`](net::TcpStream::from_std), also for errors and panics.
    #[track_caller]
    fn try_from(stream: std::net::TcpStream) -> io::Result<TcpStream> {
        net::TcpStream::from_std(stream).map(TcpStream::from)
    }
}
