//! Addresses in errors.

use std::io::{self, ErrorKind};
use std::os::unix::net::SocketAddr;
use std::path::Path;

use crate::net::error::explained;

/// The address of a path.
///
/// # Errors
///
/// `InvalidInput`, with the path, if it cannot be one.
pub(super) fn of(what: &str, path: &Path) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(path).map_err(|error| {
        let text = format!(
            "cannot {what} {}: {error}; a path of a socket has some 100 bytes at most, and none of \
             them is zero",
            path.display()
        );
        explained(text, error)
    })
}

/// The address as users write it.
pub(super) fn name(address: &SocketAddr) -> String {
    match address.as_pathname() {
        Some(path) => path.display().to_string(),
        None => format!("{address:?}"),
    }
}

/// `error` with what was tried where, and what helps.
pub(super) fn failed(what: &str, address: &SocketAddr, error: io::Error) -> io::Error {
    let hint = match (what, error.kind()) {
        (LISTEN, ErrorKind::AddrInUse) => {
            "; the file of a socket outlives its listener: remove it if nobody listens"
        }
        (CONNECT, ErrorKind::ConnectionRefused) => "; the file is there, but nobody listens",
        _ => "",
    };
    explained(format!("cannot {what} {}: {error}{hint}", name(address)), error)
}

pub(super) const LISTEN: &str = "listen on";
pub(super) const CONNECT: &str = "connect to";
