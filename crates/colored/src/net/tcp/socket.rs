//! A socket that neither listens nor is connected yet.

use std::fmt;
use std::io;
use std::net::{self, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Socket};

use super::{TcpListener, TcpStream, limits};
use crate::net::error::all_failed;
use crate::net::system;

/// A TCP socket on which options are set one by one, before [`connect`](TcpSocket::connect) or
/// [`listen`](TcpSocket::listen).
///
/// Its methods have tokio's names, for code that comes from there. [`ConnectOptions`](crate::net::ConnectOptions) and
/// [`ListenOptions`](super::ListenOptions) are shorter: they look names up, try several addresses and set a time limit. An
/// option that has no method here is set by `socket2::SockRef::from(&socket)`.
///
/// A new socket has the defaults of the system. In particular `SO_REUSEADDR` is off, unlike in `ListenOptions`.
///
/// ```
/// use colored::net::TcpSocket;
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.bind("127.0.0.1:0".parse().expect("an address"))?;
/// let listener = socket.listen(1024)?;
///
/// let socket = TcpSocket::new_v4()?;
/// socket.set_nodelay(true)?;
/// let stream = socket.connect(listener.local_addr()?).await?;
/// assert!(stream.nodelay()?);
/// # Ok(())
/// # }
/// ```
pub struct TcpSocket {
    socket: system::Unconnected,
}

impl TcpSocket {
    /// A socket for IPv4 addresses.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left.
    pub fn new_v4() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV4)
    }

    /// A socket for IPv6 addresses.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left, or no IPv6.
    pub fn new_v6() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV6)
    }

    /// A socket for addresses of the kind of this one.
    pub(super) fn new_for(addr: SocketAddr) -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::for_address(addr))
    }

    fn new(domain: Domain) -> io::Result<TcpSocket> {
        Ok(TcpSocket { socket: system::unconnected(domain)? })
    }

    /// Takes over a socket that is not connected and has the type of a stream of the standard library. The crate `socket2`
    /// makes one, with any option.
    pub fn from_std_stream(stream: net::TcpStream) -> TcpSocket {
        TcpSocket { socket: stream.into() }
    }

    /// Sets the address of this side. Port 0 lets the system choose the port.
    ///
    /// # Errors
    ///
    /// When the address is in use ([`AddrInUse`](io::ErrorKind::AddrInUse)), is no address of this machine, or is not of
    /// the kind of this socket. The error names it.
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.bind_to(addr).map_err(|error| failed("bind to", addr, error))
    }

    /// Connects to this address.
    ///
    /// Cancel safe: dropping the future closes the socket.
    ///
    /// # Errors
    ///
    /// When the connection is refused, there is no answer, or the address is not of the kind of this socket. The error
    /// names the address.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn connect(self, addr: SocketAddr) -> io::Result<TcpStream> {
        let connected = async { TcpStream::connecting(self.begin_connect(addr)?).await };
        connected.await.map_err(|error| failed("connect to", addr, error))
    }

    /// As [`bind`](TcpSocket::bind). The error is the system's.
    pub(super) fn bind_to(&self, addr: SocketAddr) -> io::Result<()> {
        system::bind(&self.socket, addr)
    }

    /// Begins to connect. The error is the system's.
    pub(super) fn begin_connect(self, addr: SocketAddr) -> io::Result<system::TcpStream> {
        system::begin_connect(self.socket, addr)
    }

    /// Listens at the address of [`bind`](TcpSocket::bind). At most `backlog` connections wait to be accepted; the system
    /// may cut the number, as [`ListenOptions::backlog`](super::ListenOptions::backlog) says.
    ///
    /// # Errors
    ///
    /// When the system refuses; on some systems a socket without an address listens on every interface, at a port that the
    /// system chooses.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        TcpListener::listening(self.listen_to(backlog)?)
    }

    /// As [`listen`](TcpSocket::listen), without a runtime.
    pub(super) fn listen_to(self, backlog: u32) -> io::Result<system::TcpListener> {
        system::listen(self.socket, backlog)
    }

    /// The address of this side.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        system::local_addr(&self.socket)
    }

    /// Takes the error that the system keeps for this socket.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    pub(in crate::net) fn socket(&self) -> &Socket {
        &self.socket
    }

    #[allow(clippy::useless_conversion, reason = "with the feature `sim` it is another type")]
    pub(in crate::net) fn into_socket(self) -> Socket {
        self.socket.into()
    }
}

/// The options, with the names of tokio.
impl TcpSocket {
    /// `SO_REUSEADDR`: whether to bind to a port that connections of a former listener still linger on. On Windows it would
    /// let others take the port over.
    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.socket.reuse_address()
    }

    /// Sets [`reuseaddr`](TcpSocket::reuseaddr).
    pub fn set_reuseaddr(&self, reuse: bool) -> io::Result<()> {
        self.socket.set_reuse_address(reuse)
    }

    /// `SO_REUSEPORT`: whether several sockets may share the port. See
    /// [`TcpListener::bind_per_worker`] for a listener on each worker.
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
    pub fn reuseport(&self) -> io::Result<bool> {
        self.socket.reuse_port()
    }

    /// Sets [`reuseport`](TcpSocket::reuseport).
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
    pub fn set_reuseport(&self, reuse: bool) -> io::Result<()> {
        self.socket.set_reuse_port(reuse)
    }

    /// `SO_SNDBUF`: how many bytes the system buffers for sending. Linux answers twice what was set.
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        self.socket.send_buffer_size().map(|bytes| bytes.try_into().unwrap_or(u32::MAX))
    }

    /// Sets [`send_buffer_size`](TcpSocket::send_buffer_size), 1 to 2³¹ − 1 bytes; the restrictions of
    /// [`ConnectOptions::send_buffer`](crate::net::ConnectOptions::send_buffer) apply.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for another number.
    pub fn set_send_buffer_size(&self, bytes: u32) -> io::Result<()> {
        self.socket.set_send_buffer_size(size("set_send_buffer_size", bytes)?)
    }

    /// `SO_RCVBUF`: how many bytes the system buffers for reading. Linux answers twice what was set.
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        self.socket.recv_buffer_size().map(|bytes| bytes.try_into().unwrap_or(u32::MAX))
    }

    /// Sets [`recv_buffer_size`](TcpSocket::recv_buffer_size), as
    /// [`set_send_buffer_size`](TcpSocket::set_send_buffer_size) does.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for another number.
    pub fn set_recv_buffer_size(&self, bytes: u32) -> io::Result<()> {
        self.socket.set_recv_buffer_size(size("set_recv_buffer_size", bytes)?)
    }

    /// Whether small writes are sent at once; see [`TcpStream::set_nodelay`].
    pub fn nodelay(&self) -> io::Result<bool> {
        self.socket.tcp_nodelay()
    }

    /// Sets [`nodelay`](TcpSocket::nodelay).
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.socket.set_tcp_nodelay(nodelay)
    }

    /// Whether an idle connection is probed.
    pub fn keepalive(&self) -> io::Result<bool> {
        self.socket.keepalive()
    }

    /// Sets [`keepalive`](TcpSocket::keepalive), with the times of the system; see [`TcpStream::set_keep_alive`] for others.
    pub fn set_keepalive(&self, probes: bool) -> io::Result<()> {
        self.socket.set_keepalive(probes)
    }

    /// What happens to unsent data when the connection is dropped; see [`TcpStream::set_linger`].
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.socket.linger()
    }

    /// Sets [`linger`](TcpSocket::linger).
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for more than 32,767 seconds.
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.socket.set_linger(limits::linger(linger)?)
    }

    /// As [`set_linger`](TcpSocket::set_linger) with a time of zero: the drop resets the connection.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }
}

fn size(name: &str, bytes: u32) -> io::Result<usize> {
    limits::buffer(name, bytes.try_into().unwrap_or(usize::MAX))
}

fn failed(what: &str, addr: SocketAddr, error: io::Error) -> io::Error {
    all_failed(what, &addr.to_string(), vec![(addr, error)])
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.fmt(f)
    }
}
