//! Connecting.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::{TcpSocket, TcpStream, limits};
use crate::error_context::{NamedError, named, with_context};
use crate::net::ToSocketAddrs;
use crate::net::error::all_failed;
use crate::net::system;
use crate::time::{self, timeout_at};

/// How to make a connection.
///
/// ```no_run
/// # async fn connect() -> std::io::Result<()> {
/// use std::time::Duration;
///
/// use colored::net::ConnectOptions;
///
/// let patience = Duration::from_secs(3);
/// let stream = ConnectOptions::new().time_limit(patience).connect("example.org:80").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "options do nothing until `connect` is called and awaited"]
pub struct ConnectOptions {
    bind: Option<SocketAddr>,
    send_buffer: Option<usize>,
    receive_buffer: Option<usize>,
    time_limit: Option<Duration>,
}

impl ConnectOptions {
    /// The options of [`TcpStream::connect`]: the system chooses everything.
    pub const fn new() -> ConnectOptions {
        ConnectOptions { bind: None, send_buffer: None, receive_buffer: None, time_limit: None }
    }

    /// The address of this side. Port 0 lets the system choose the port. Only addresses of the same
    /// kind, IPv4 or IPv6, can be connected to.
    pub const fn bind(mut self, local: SocketAddr) -> ConnectOptions {
        self.bind = Some(local);
        self
    }

    /// `SO_SNDBUF`: how many bytes the system buffers for sending, 1 to 2³¹ − 1. The system may treat
    /// this as a hint: Linux doubles it, and limits it to `/proc/sys/net/core/wmem_max`. Default: the
    /// system adapts it.
    pub const fn send_buffer(mut self, bytes: usize) -> ConnectOptions {
        self.send_buffer = Some(bytes);
        self
    }

    /// `SO_RCVBUF`: how many bytes the system buffers for reading, 1 to 2³¹ − 1. The restrictions of
    /// [`send_buffer`](ConnectOptions::send_buffer) apply, with `rmem_max`. Default: the system adapts
    /// it.
    pub const fn receive_buffer(mut self, bytes: usize) -> ConnectOptions {
        self.receive_buffer = Some(bytes);
        self
    }

    /// The time limit for the look-up of the name and all attempts together. Default: only the limits
    /// of the system, which may be minutes for each address.
    pub const fn time_limit(mut self, limit: Duration) -> ConnectOptions {
        self.time_limit = Some(limit);
        self
    }

    /// Connects to the first of the addresses that answers. The attempts are made one after another, in
    /// the given order or in the order of the system's resolver.
    ///
    /// Cancel safe: dropping the future closes the socket.
    ///
    /// # Errors
    ///
    /// When the name cannot be resolved or no address answers. [`named`] names every
    /// address that was tried with its error. The error is the last of these, or [`TimedOut`](io::ErrorKind::TimedOut) if
    /// the time limit was over. [`InvalidInput`](io::ErrorKind::InvalidInput) if an option is out of its range.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn connect(&self, addr: impl ToSocketAddrs) -> io::Result<TcpStream> {
        for (name, given) in
            [("send_buffer", self.send_buffer), ("receive_buffer", self.receive_buffer)]
        {
            given.map(|bytes| limits::buffer(name, bytes)).transpose()?;
        }
        let deadline = self.time_limit.map(|limit| time::later(time::present(), limit));
        let target = addr.target()?;
        let Some(addrs) = before(deadline, target.resolve()).await else {
            let limit = self.time_limit.unwrap_or_default();
            let text =
                format!("cannot connect to {target}: no answer of the resolver in {limit:?}");
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        };
        let mut failed = Vec::new();
        for &addr in &*addrs? {
            match before(deadline, named(self.connect_to(addr))).await {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => failed.push((addr, error)),
                None => {
                    let limit = self.time_limit.unwrap_or_default();
                    let text = format!("no answer when the time limit of {limit:?} was over");
                    let error = io::Error::new(io::ErrorKind::TimedOut, text);
                    failed.push((addr, NamedError::of(error, None)));
                    break;
                }
            }
        }
        Err(all_failed("connect to", &target.to_string(), failed))
    }

    async fn connect_to(&self, addr: SocketAddr) -> io::Result<TcpStream> {
        // One await for both: each would have a place of its own in the future.
        let begun = match (self.bind, self.send_buffer, self.receive_buffer) {
            (None, None, None) => system::TcpStream::connect(addr)?,
            _ => self.prepared(addr)?.begin_connect(addr)?,
        };
        TcpStream::connecting(begun).await
    }

    /// A socket with these options.
    fn prepared(&self, addr: SocketAddr) -> io::Result<TcpSocket> {
        let socket = TcpSocket::new_for(addr)?;
        if let Some(bytes) = self.send_buffer {
            socket.socket().set_send_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.receive_buffer {
            socket.socket().set_recv_buffer_size(bytes)?;
        }
        if let Some(local) = self.bind {
            let bound = match local.is_ipv4() == addr.is_ipv4() {
                true => socket.bind_to(local),
                false => Err(io::ErrorKind::InvalidInput.into()),
            };
            bound.map_err(|error| with_context(format!("bind({local}): {error}"), error))?;
        }
        Ok(socket)
    }
}

impl TcpStream {
    /// Connects to the first of the addresses that answers, with the defaults of [`ConnectOptions`].
    /// Only the system limits the time, which may be minutes for each address.
    ///
    /// Cancel safe: dropping the future closes the socket.
    ///
    /// # Errors
    ///
    /// See [`ConnectOptions::connect`].
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn connect(addr: impl ToSocketAddrs) -> io::Result<TcpStream> {
        ConnectOptions::new().connect(addr).await
    }
}

/// The output of the future; none when the time is over first.
async fn before<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}
