//! Connections of either family, and where servers listen for them.

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::{self, SocketAddr};
use std::os::unix;
use std::path::PathBuf;
use std::time::Duration;

/// How clients and server reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// TCP, on the loopback interface: the sender also does the receiver's part of the network
    /// stack.
    Tcp,
    /// Unix sockets.
    Unix,
}

/// Where a server listens.
#[derive(Clone, Debug)]
pub enum Address {
    /// At a port of the loopback interface.
    Tcp(SocketAddr),
    /// At a path.
    Unix(PathBuf),
}

/// A connection that does not block, of either family.
#[derive(Debug)]
pub enum Wire {
    /// By TCP.
    Tcp(TcpStream),
    /// By a Unix socket.
    Unix(UnixStream),
}

impl Wire {
    /// Connects.
    ///
    /// # Errors
    ///
    /// If nobody listens, or the socket refuses its options.
    pub fn connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => {
                let stream = net::TcpStream::connect(address)?;
                // Closing resets the connection. Waiting states of thousands of closed connections
                // would use up the ports of the machine.
                SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
                Self::tcp(stream)
            }
            Address::Unix(path) => Self::unix(unix::net::UnixStream::connect(path)?),
        }
    }

    /// Takes over an open connection.
    ///
    /// # Errors
    ///
    /// If the socket refuses its options.
    pub fn tcp(stream: net::TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self::Tcp(TcpStream::from_std(stream)))
    }

    /// Takes over an open connection.
    ///
    /// # Errors
    ///
    /// If the socket refuses its options.
    pub fn unix(stream: unix::net::UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::Unix(UnixStream::from_std(stream)))
    }
}

/// Evaluates the same expression with either stream.
macro_rules! either {
    ($wire:expr, $stream:ident => $then:expr) => {
        match $wire {
            Wire::Tcp($stream) => $then,
            Wire::Unix($stream) => $then,
        }
    };
}

impl Read for Wire {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        either!(self, stream => stream.read(buf))
    }
}

impl Write for Wire {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        either!(self, stream => stream.write(buf))
    }

    fn flush(&mut self) -> io::Result<()> {
        either!(self, stream => stream.flush())
    }
}

impl Source for Wire {
    fn register(&mut self, on: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        either!(self, stream => stream.register(on, token, interest))
    }

    fn reregister(&mut self, on: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        either!(self, stream => stream.reregister(on, token, interest))
    }

    fn deregister(&mut self, on: &Registry) -> io::Result<()> {
        either!(self, stream => stream.deregister(on))
    }
}
