//! Connections, and their single directions.

use super::TcpStream;
#[cfg(unix)]
use super::UnixStream;

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
