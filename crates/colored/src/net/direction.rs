//! Connections, and their single directions.

use super::TcpStream;
use super::tcp::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
#[cfg(unix)]
use super::{UnixStream, unix};

/// A connection, or one direction of it.
pub(super) trait Direction {
    type Stream;

    fn stream(&self) -> &Self::Stream;
}

impl Direction for TcpStream {
    type Stream = TcpStream;

    fn stream(&self) -> &TcpStream {
        self
    }
}

#[cfg(unix)]
impl Direction for UnixStream {
    type Stream = UnixStream;

    fn stream(&self) -> &UnixStream {
        self
    }
}

impl<D: Direction> Direction for &D {
    type Stream = D::Stream;

    fn stream(&self) -> &D::Stream {
        (**self).stream()
    }
}

impl Direction for ReadHalf<'_> {
    type Stream = TcpStream;

    fn stream(&self) -> &TcpStream {
        self.as_ref()
    }
}

impl Direction for WriteHalf<'_> {
    type Stream = TcpStream;

    fn stream(&self) -> &TcpStream {
        self.as_ref()
    }
}

impl Direction for OwnedReadHalf {
    type Stream = TcpStream;

    fn stream(&self) -> &TcpStream {
        self.as_ref()
    }
}

impl Direction for OwnedWriteHalf {
    type Stream = TcpStream;

    fn stream(&self) -> &TcpStream {
        self.as_ref()
    }
}

#[cfg(unix)]
impl Direction for unix::ReadHalf<'_> {
    type Stream = UnixStream;

    fn stream(&self) -> &UnixStream {
        self.as_ref()
    }
}

#[cfg(unix)]
impl Direction for unix::WriteHalf<'_> {
    type Stream = UnixStream;

    fn stream(&self) -> &UnixStream {
        self.as_ref()
    }
}

#[cfg(unix)]
impl Direction for unix::OwnedReadHalf {
    type Stream = UnixStream;

    fn stream(&self) -> &UnixStream {
        self.as_ref()
    }
}

#[cfg(unix)]
impl Direction for unix::OwnedWriteHalf {
    type Stream = UnixStream;

    fn stream(&self) -> &UnixStream {
        self.as_ref()
    }
}
