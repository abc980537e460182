//! Errors with what was tried; the system's is their source.

use std::error::Error;
use std::fmt;
use std::io;
use tokio_rustls::rustls::{self, InvalidMessage};

#[derive(Debug)]
struct Explained {
    text: String,
    error: io::Error,
}

/// An error with this text, whose source is `error`.
pub(super) fn explained(text: String, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), Explained { text, error })
}

/// Says that `error` is of a handshake with `peer`, "the client" or "the server".
pub(super) fn failed(peer: &'static str, error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|error| error.downcast_ref());
    let text = match inner {
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            format!("{peer} does not speak TLS")
        }
        _ => format!("the TLS handshake failed: {error}"),
    };
    explained(text, error)
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
