//! UDP.

mod peek;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::net::{self, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

use super::addr::ToSocketAddrs;
use super::error::all_failed;
use super::system;
use crate::error_context::with_context;
use crate::io::{Interest, ReadBuf, Ready};
use crate::registration::Registered;

/// A UDP socket.
///
/// Tasks may share it in an [`Arc`](std::sync::Arc): all methods take `&self`. A datagram goes to one of the tasks that
/// receive. The system drops datagrams for which its queue has no room.
///
/// For options that have no method here make a socket with `socket2`, and use [`from_std`](Self::from_std).
///
/// A program that moves more than some ten thousand datagrams each second moves many with one system call. The crate
/// `quinn-udp` does so on this socket, by what the system has for it (`recvmmsg`, GSO, GRO):
///
/// ```
/// use colored::io::Interest;
/// use colored::net::UdpSocket;
/// use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
/// use std::io::IoSliceMut;
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// # let (from, to) = (UdpSocket::bind("127.0.0.1:0").await?, UdpSocket::bind("127.0.0.1:0").await?);
/// let sender = UdpSocketState::new(UdpSockRef::from(&from))?;
/// let receiver = UdpSocketState::new(UdpSockRef::from(&to))?;
///
/// // Equal datagrams of 1,000 bytes, as many as the system takes at once.
/// let contents = vec![7; 1000 * sender.max_gso_segments()];
/// let transmit = Transmit {
///     destination: to.local_addr()?,
///     ecn: None,
///     contents: &contents,
///     segment_size: Some(1000),
///     src_ip: None,
/// };
/// from.async_io(Interest::WRITABLE, || sender.try_send(UdpSockRef::from(&from), &transmit)).await?;
///
/// let mut buf = vec![0; 1 << 16];
/// let mut metas = [RecvMeta::default()];
/// let receive = || {
///     let bufs = &mut [IoSliceMut::new(&mut buf)];
///     receiver.recv(UdpSockRef::from(&to), bufs, &mut metas)
/// };
/// assert_eq!(to.async_io(Interest::READABLE, receive).await?, 1);
/// assert_eq!(metas[0].stride, 1000);
/// # Ok(())
/// # }
/// ```
///
/// # Examples
///
/// ```
/// use colored::net::UdpSocket;
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// let server = UdpSocket::bind("127.0.0.1:0").await?;
/// let client = UdpSocket::bind("127.0.0.1:0").await?;
/// client.connect(server.local_addr()?).await?;
/// client.send(b"hello").await?;
///
/// let mut buf = [0; 1500];
/// let (len, from) = server.recv_from(&mut buf).await?;
/// server.send_to(&buf[..len], from).await?;
/// assert_eq!(client.recv(&mut buf).await?, 5);
/// # Ok(())
/// # }
/// ```
pub struct UdpSocket {
    pub(super) inner: Registered<system::UdpSocket>,
}

impl UdpSocket {
    /// Makes a socket at the first of the addresses where that is possible. Port 0 lets the system choose. Cancel
    /// safe.
    ///
    /// # Errors
    ///
    /// When the name cannot be resolved, or no address can be used. [`named`](crate::io::named) names
    /// every address that was tried.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn bind(addr: impl ToSocketAddrs) -> io::Result<UdpSocket> {
        let target = addr.target()?;
        let mut failed = Vec::new();
        for &addr in &*target.resolve().await? {
            match system::UdpSocket::bind(addr) {
                Ok(socket) => return UdpSocket::bound(socket),
                Err(error) => failed.push((addr, error)),
            }
        }
        Err(all_failed("bind to", &target.to_string(), failed))
    }

    /// Sets the peer, the first of the addresses where that is possible: the socket then sends to it without an address,
    /// and receives from nobody else. Cancel safe: a dropped call has set no peer.
    ///
    /// # Errors
    ///
    /// When the name cannot be resolved, or no address can be used. [`named`](crate::io::named) names
    /// every address that was tried.
    pub async fn connect(&self, addr: impl ToSocketAddrs) -> io::Result<()> {
        let target = addr.target()?;
        let mut failed = Vec::new();
        for &addr in &*target.resolve().await? {
            match self.socket().connect(addr) {
                Ok(()) => return Ok(()),
                Err(error) => failed.push((addr, error)),
            }
        }
        Err(all_failed("connect to", &target.to_string(), failed))
    }

    /// Takes over a socket of the standard library and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// When the system refuses to make it non-blocking or to register it.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn from_std(socket: net::UdpSocket) -> io::Result<UdpSocket> {
        socket.set_nonblocking(true)?;
        UdpSocket::bound(system::UdpSocket::from_std(socket))
    }

    #[track_caller]
    fn bound(socket: system::UdpSocket) -> io::Result<UdpSocket> {
        Ok(UdpSocket { inner: Registered::new(socket, Ready::READABLE | Ready::WRITABLE)? })
    }

    /// Gives the socket back to the standard library, still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// When the system fails to release it; the socket is then closed.
    pub fn into_std(self) -> io::Result<net::UdpSocket> {
        self.inner.into_inner().map(system::udp_into_std)
    }

    /// Sends a datagram to the first of the addresses, and returns its length: all of it or nothing. Waits for room.
    /// Cancel safe: a datagram whose future was dropped has not been sent.
    ///
    /// # Errors
    ///
    /// The system's, for instance when the datagram is too long; and when the name cannot be resolved.
    /// [`named`](crate::io::named) names the address.
    pub async fn send_to(&self, datagram: &[u8], addr: impl ToSocketAddrs) -> io::Result<usize> {
        let target = addr.target()?;
        let addresses = target.resolve().await?;
        let Some(&addr) = addresses.first() else {
            return Err(all_failed("send to", &target.to_string(), Vec::<(_, io::Error)>::new()));
        };
        let send = |socket: &system::UdpSocket| socket.send_to(datagram, addr);
        let sent = self.inner.io(Interest::WRITABLE, send).await;
        sent.map(|(_, len)| len).map_err(|error| {
            let text = format!("cannot send {} bytes to {addr}: {error}", datagram.len());
            with_context(text, error)
        })
    }

    /// Like [`send_to`](Self::send_to) an address, without waiting.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room.
    pub fn try_send_to(&self, datagram: &[u8], addr: SocketAddr) -> io::Result<usize> {
        let send = |socket: &system::UdpSocket| socket.send_to(datagram, addr);
        self.inner.try_io(Interest::WRITABLE, send).map(|(_, len)| len)
    }

    /// Like [`send_to`](Self::send_to) an address; only the last task to poll for writing is woken.
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        datagram: &[u8],
        addr: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        let send = |socket: &system::UdpSocket| socket.send_to(datagram, addr);
        self.inner.poll_io(cx, Interest::WRITABLE, send).map_ok(|(_, len)| len)
    }

    /// Receives a datagram. Returns its length and its sender; what does not fit into `buf` is lost. Cancel safe: a
    /// datagram that has not been returned is still in the queue of the system.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let recv = |socket: &system::UdpSocket| socket.recv_from(buf);
        self.inner.io(Interest::READABLE, recv).await.map(|(_, received)| received)
    }

    /// Like [`recv_from`](Self::recv_from), without waiting.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no datagram.
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let recv = |socket: &system::UdpSocket| socket.recv_from(buf);
        self.inner.try_io(Interest::READABLE, recv).map(|(_, received)| received)
    }

    /// Like [`recv_from`](Self::recv_from), into the unfilled part of `buf`; only the last task to poll for reading is
    /// woken.
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        let unfilled = buf.initialize_unfilled();
        let recv = |socket: &system::UdpSocket| socket.recv_from(unfilled);
        self.inner.poll_io(cx, Interest::READABLE, recv).map_ok(|(_, (len, from))| {
            buf.advance(len);
            from
        })
    }

    /// The address of this socket, with the port that the system chose.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// The peer of [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// [`NotConnected`](io::ErrorKind::NotConnected) if there is none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket().peer_addr()
    }

    pub(super) fn socket(&self) -> &system::UdpSocket {
        self.inner.get()
    }
}

/// An option of the system: a getter and a setter.
macro_rules! options {
    ($($(#[$text:meta])* $get:ident, $set:ident: $value:ty;)*) => {
        impl UdpSocket {$(
            $(#[$text])*
            pub fn $get(&self) -> io::Result<$value> {
                self.socket().$get()
            }

            #[doc = concat!("Sets [`", stringify!($get), "`](Self::", stringify!($get), ").")]
            pub fn $set(&self, value: $value) -> io::Result<()> {
                self.socket().$set(value)
            }
        )*}
    };
}

options! {
    /// `SO_BROADCAST`: whether the socket may send to broadcast addresses; usually false.
    broadcast, set_broadcast: bool;
    /// The time to live, in hops, of the packets that the socket sends to IPv4 addresses.
    ttl, set_ttl: u32;
    /// Whether the socket's own host gets a copy of what it sends to an IPv4 group; usually true.
    multicast_loop_v4, set_multicast_loop_v4: bool;
    /// The time to live, in hops, of what the socket sends to IPv4 groups; usually 1, the local network.
    multicast_ttl_v4, set_multicast_ttl_v4: u32;
    /// Whether the socket's own host gets a copy of what it sends to an IPv6 group; usually true.
    multicast_loop_v6, set_multicast_loop_v6: bool;
}

impl UdpSocket {
    /// Joins an IPv4 group on the interface with this address; `0.0.0.0` lets the system choose one.
    pub fn join_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.socket().join_multicast_v4(&group, &interface)
    }

    /// Leaves a group; see [`join_multicast_v4`](Self::join_multicast_v4).
    pub fn leave_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.socket().leave_multicast_v4(&group, &interface)
    }

    /// Joins an IPv6 group on the interface with this index; 0 lets the system choose one.
    pub fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        let joined = self.socket().join_multicast_v6(group, interface);
        joined.map_err(|error| {
            with_context(format!("join_multicast_v6({group}, {interface}): {error}"), error)
        })
    }

    /// Leaves a group; see [`join_multicast_v6`](Self::join_multicast_v6).
    pub fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        let left = self.socket().leave_multicast_v6(group, interface);
        left.map_err(|error| {
            with_context(format!("leave_multicast_v6({group}, {interface}): {error}"), error)
        })
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket().fmt(f)
    }
}
