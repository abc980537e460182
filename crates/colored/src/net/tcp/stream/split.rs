//! The two directions of a borrowed connection.

use super::TcpStream;

/// The reading direction of a borrowed [`TcpStream`]; see [`TcpStream::split`]. The rest of the
/// connection is at [`as_ref`](AsRef::as_ref).
#[derive(Debug)]
pub struct ReadHalf<'a>(&'a TcpStream);

/// The writing direction of a borrowed [`TcpStream`]; see [`TcpStream::split`]. The rest of the
/// connection is at [`as_ref`](AsRef::as_ref). Dropping it does not end the direction.
#[derive(Debug)]
pub struct WriteHalf<'a>(&'a TcpStream);

impl<'a> ReadHalf<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> ReadHalf<'a> {
        ReadHalf(stream)
    }
}

impl<'a> WriteHalf<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> WriteHalf<'a> {
        WriteHalf(stream)
    }
}

impl AsRef<TcpStream> for ReadHalf<'_> {
    fn as_ref(&self) -> &TcpStream {
        self.0
    }
}

impl AsRef<TcpStream> for WriteHalf<'_> {
    fn as_ref(&self) -> &TcpStream {
        self.0
    }
}
