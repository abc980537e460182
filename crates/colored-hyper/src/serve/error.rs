//! The errors of a server.

use colored::io::NamedError;
use std::error::Error;
use std::fmt::{self, Debug};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// An error that did not end the server. See [`Serve::on_error`](crate::Serve::on_error).
///
/// `P` is the listener's type of a [peer](crate::Listener::Peer).
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError<P = SocketAddr> {
    /// The listener could not accept a connection, mostly for lack of descriptors. It waits a while and
    /// goes on; no connection is lost. The error has the number of the system, and names the operation.
    Accept(NamedError),
    /// A connection ended in its handshake, or before its HTTP version was clear. The kind is
    /// [`TimedOut`](io::ErrorKind::TimedOut) if the client took too long. The number of the system's error, if there is one,
    /// is that of the error, or of the source of the error for a handshake.
    Preface {
        /// The client.
        peer: P,
        /// The cause.
        error: io::Error,
    },
    /// A connection ended because of a mistake of the client, an error of the service, or a failure of
    /// the network.
    Connection {
        /// The client.
        peer: P,
        /// The cause.
        error: hyper::Error,
    },
}

impl<P: Debug> fmt::Display for ServeError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Accept(error) => write!(f, "cannot accept a connection: {error}"),
            ServeError::Preface { peer, error } => {
                write!(f, "connection of {peer:?} ended before its first request: {error}")
            }
            ServeError::Connection { peer, error } => {
                write!(f, "connection of {peer:?} ended: {error}")?;
                match error.source() {
                    Some(source) => write!(f, ": {source}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl<P: Debug> Error for ServeError<P> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ServeError::Accept(error) => Some(error),
            ServeError::Preface { error, .. } => Some(error),
            ServeError::Connection { error, .. } => Some(error),
        }
    }
}

/// The time for a graceful shutdown was over before all connections were closed; the rest were cut
/// off.
///
/// Turns into an [`io::Error`] of kind [`TimedOut`](io::ErrorKind::TimedOut).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainTimeout {
    /// How many connections were cut off.
    pub connections: usize,
    /// How long the server waited.
    pub timeout: Duration,
}

impl fmt::Display for DrainTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connections, timeout } = self;
        write!(f, "{connections} connections were cut off, still busy {timeout:?} after shutdown")
    }
}

impl Error for DrainTimeout {}

impl From<DrainTimeout> for io::Error {
    fn from(error: DrainTimeout) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, error)
    }
}
