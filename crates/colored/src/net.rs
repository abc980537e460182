//! Sockets, and on unix pipes, in `net::unix::pipe`.
//!
//! A socket belongs to the runtime in which it was made, not to a task or a color: tasks may move and
//! share it freely. Several tasks may call methods that take `&self` at once, and each of them is
//! woken. Through the `poll_*` methods and the [`AsyncRead`](crate::io::AsyncRead) and
//! [`AsyncWrite`](crate::io::AsyncWrite) traits a socket remembers one reader and one writer: the last
//! ones to poll.
//!
//! # Outside a runtime
//!
//! Making a socket outside a runtime panics. Using a socket after its runtime has shut down is an
//! error; dropping it is fine.
//!
//! # Errors
//!
//! An error that concerns an address names it, and names each address that was tried if there were
//! several. Its [`source`](std::error::Error::source) is the error of the operating system, whose
//! kind it shares.

pub use self::addr::{ToSocketAddrs, lookup_host};
pub use self::chunks::Chunks;
pub use self::incoming::Incoming;
pub use self::progress::Progress;
pub use self::tcp::{
    connect::ConnectOptions, keep_alive::KeepAlive, listen::ListenOptions, listener::TcpListener,
    socket::TcpSocket, stream::TcpStream,
};
pub use self::udp::UdpSocket;
#[cfg(unix)]
pub use self::unix::{datagram::UnixDatagram, listener::UnixListener, stream::UnixStream};

mod accept_backoff;
mod acceptor;
mod addr;
mod buf_mut;
mod chunks;
mod connection;
mod convert;
mod datagram;
mod direction;
mod error;
mod fd;
#[cfg(feature = "futures-io")]
mod futures_io;
mod gather;
mod halves;
#[cfg(feature = "hyper")]
mod hyper_io;
mod incoming;
mod progress;
mod send_file;
mod socket;
mod system;
pub mod tcp;
#[cfg(test)]
mod testing;
mod tokio_io;
mod traffic_class;
mod transfer;
mod udp;
mod uninit;
#[cfg(unix)]
pub mod unix;
