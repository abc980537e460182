//! The two directions of a connection, each with an owner of its own.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::TcpStream;
use crate::net::transfer::Stream;

/// The reading direction of a [`TcpStream`]; see [`TcpStream::into_split`]. The rest of
/// the connection, its options above all, is at [`as_ref`](AsRef::as_ref).
#[derive(Debug)]
pub struct OwnedReadHalf {
    stream: Arc<TcpStream>,
}

/// The writing direction of a [`TcpStream`]; see [`TcpStream::into_split`]. The rest
/// of the connection, its options above all, is at [`as_ref`](AsRef::as_ref).
///
/// Dropping it ends the direction: the peer sees the end of the stream, and may go on to write.
/// [`forget`](OwnedWriteHalf::forget) drops it without that.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: Arc<TcpStream>,
    end_on_drop: bool,
}

/// The two halves belong to different connections; the error returns them.
#[derive(Debug)]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl OwnedReadHalf {
    pub(super) fn new(stream: Arc<TcpStream>) -> OwnedReadHalf {
        OwnedReadHalf { stream }
    }

    /// Makes a whole of the two halves again.
    ///
    /// # Errors
    ///
    /// When they are not of the same connection.
    pub fn reunite(self, write: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        if !Arc::ptr_eq(&self.stream, &write.stream) {
            return Err(ReuniteError(self, write));
        }
        write.forget();
        let stream = Arc::into_inner(self.stream);
        Ok(stream.expect("a connection has two halves, and both are here"))
    }
}

impl OwnedWriteHalf {
    pub(super) fn new(stream: Arc<TcpStream>) -> OwnedWriteHalf {
        OwnedWriteHalf { stream, end_on_drop: true }
    }

    /// Makes a whole of the two halves again; see [`OwnedReadHalf::reunite`].
    ///
    /// # Errors
    ///
    /// When they are not of the same connection.
    pub fn reunite(self, read: OwnedReadHalf) -> Result<TcpStream, ReuniteError> {
        read.reunite(self)
    }

    /// Drops this without ending the direction, which then ends with the other half.
    pub fn forget(mut self) {
        self.end_on_drop = false;
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.end_on_drop {
            // An error means that the direction has ended already.
            let _ = self.stream.end_writing();
        }
    }
}

impl AsRef<TcpStream> for OwnedReadHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.stream
    }
}

impl AsRef<TcpStream> for OwnedWriteHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.stream
    }
}

impl fmt::Display for ReuniteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the two halves are of different connections; only those of one make a whole")
    }
}

impl Error for ReuniteError {}
