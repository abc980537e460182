//! Errors with what was tried; the system's is their source.

use std::error::Error;
use std::fmt;
use std::io;
use tokio_rustls::rustls::{self, InvalidMessage};

/// Why there is no TLS on a connection.
#[derive(Debug)]
struct Failed {
    peer: &'static str,
    error: io::Error,
}

/// Says that `error` is of a handshake with `peer`, "the client" or "the server".
pub(super) fn failed(peer: &'static str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), Failed { peer, error })
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.error.get_ref().and_then(|error| error.downcast_ref());
        match inner {
            Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
                write!(f, "{} does not speak TLS", self.peer)
            }
            _ => write!(f, "the TLS handshake failed: {}", self.error),
        }
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

/// An error with this text, whose source is `error`.
pub(super) fn explained(text: String, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), Explained { text, error })
}

#[derive(Debug)]
struct Explained {
    text: String,
    error: io::Error,
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Explained {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
