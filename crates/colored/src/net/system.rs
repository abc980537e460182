//! The sockets behind the public types. The runtime in which a program makes one decides whether it is the system's, by mio, or a
//! simulated machine's.

use std::io;
use std::net::{self, SocketAddr};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

mod either;
mod tcp;
mod udp;
#[cfg(unix)]
mod unix;

pub(super) use self::tcp::{
    TcpListener, TcpStream, Unconnected, begin_connect, bind, listen, local_addr, unconnected,
};
pub(super) use self::udp::{UdpSocket, peek_sender, udp_into_std};
#[cfg(unix)]
pub(super) use self::unix::{UnixListener, UnixStream, accept_unix};

/// The system's.
mod plain {
    use super::*;

    use mio::net::{TcpListener, TcpStream, UdpSocket};
    #[cfg(unix)]
    use mio::net::{UnixListener, UnixStream};

    pub(in crate::net) fn unconnected(domain: Domain) -> io::Result<Socket> {
        Socket::new(domain, Type::STREAM, Some(Protocol::TCP))
    }

    pub(in crate::net) fn bind(socket: &Socket, addr: SocketAddr) -> io::Result<()> {
        socket.bind(&addr.into())
    }

    pub(in crate::net) fn local_addr(socket: &Socket) -> io::Result<SocketAddr> {
        let addr = socket.local_addr()?;
        addr.as_socket().ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
    }

    pub(in crate::net) fn begin_connect(socket: Socket, addr: SocketAddr) -> io::Result<TcpStream> {
        socket.set_nonblocking(true)?;
        match socket.connect(&addr.into()) {
            Err(error) if !is_under_way(&error) => Err(error),
            _ => Ok(TcpStream::from_std(socket.into())),
        }
    }

    /// Whether this error of a connect tells only that it has to be waited for.
    #[cfg(unix)]
    fn is_under_way(error: &io::Error) -> bool {
        use rustix::io::Errno;
        Errno::from_io_error(error) == Some(Errno::INPROGRESS)
    }

    #[cfg(not(unix))]
    fn is_under_way(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::WouldBlock
    }

    pub(in crate::net) fn listen(socket: Socket, backlog: u32) -> io::Result<TcpListener> {
        socket.set_nonblocking(true)?;
        socket.listen(backlog.try_into().unwrap_or(i32::MAX))?;
        Ok(TcpListener::from_std(socket.into()))
    }

    /// Whom the next datagram is from.
    pub(in crate::net) fn peek_sender(socket: &UdpSocket) -> io::Result<SocketAddr> {
        let from = socket.try_io(|| SockRef::from(socket).peek_sender())?;
        from.as_socket().ok_or_else(|| io::Error::other("the sender has no internet address"))
    }

    #[cfg(unix)]
    pub(in crate::net) fn udp_into_std(socket: UdpSocket) -> net::UdpSocket {
        std::os::fd::OwnedFd::from(socket).into()
    }

    #[cfg(windows)]
    pub(in crate::net) fn udp_into_std(socket: UdpSocket) -> net::UdpSocket {
        std::os::windows::io::OwnedSocket::from(socket).into()
    }

    #[cfg(unix)]
    pub(in crate::net) fn accept_unix(
        listener: &UnixListener,
    ) -> io::Result<(UnixStream, std::os::unix::net::SocketAddr)> {
        let (socket, peer) = SockRef::from(listener).accept()?;
        socket.set_nonblocking(true)?;
        let socket = UnixStream::from_std(socket.into());
        Ok((socket, crate::net::unix::address::of_peer(&peer)?))
    }
}
