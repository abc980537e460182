//! Addresses in errors.

use std::io::{self, ErrorKind};
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;
use std::path::Path;

use socket2::SockAddr;

use crate::error_context::with_context;

/// The address of a connecting peer. A path that is too long to connect to counts as none.
pub(in crate::net) fn of_peer(peer: &SockAddr) -> io::Result<SocketAddr> {
    if let Some(Ok(address)) = peer.as_pathname().map(SocketAddr::from_pathname) {
        return Ok(address);
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(name) = peer.as_abstract_namespace() {
        return abstract_address(name);
    }
    // Addresses without a name.
    SocketAddr::from_pathname("")
}

/// The address of an abstract name, which has no file.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn abstract_address(name: &[u8]) -> io::Result<SocketAddr> {
    #[cfg(target_os = "android")]
    use std::os::android::net::SocketAddrExt;
    #[cfg(target_os = "linux")]
    use std::os::linux::net::SocketAddrExt;
    SocketAddr::from_abstract_name(name)
}

/// There are none on this system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn abstract_address(_: &[u8]) -> io::Result<SocketAddr> {
    Err(ErrorKind::Unsupported.into())
}

/// The address of a path. On Linux one that begins with a NUL byte is an abstract name, which is the rest of it.
///
/// # Errors
///
/// `InvalidInput`, with the path, if it cannot be one.
pub(super) fn of(what: &str, path: &Path) -> io::Result<SocketAddr> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let name = path.as_os_str().as_bytes().strip_prefix(b"\0");
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let name = None;
    let address = match name {
        Some(name) => abstract_address(name),
        // The system would make up a name.
        None if path.as_os_str().is_empty() => {
            Err(io::Error::new(ErrorKind::InvalidInput, "the path is empty"))
        }
        None => SocketAddr::from_pathname(path),
    };
    address.map_err(|error| {
        let text = format!(
            "cannot {what} {}: {error}; a path of a socket has 1 to some 100 bytes, and none of \
             them is zero, but for the first one of an abstract name on Linux",
            path.display()
        );
        with_context(text, error)
    })
}

/// The address as users write it.
pub(super) fn name(address: &SocketAddr) -> String {
    match address.as_pathname() {
        Some(path) => path.display().to_string(),
        None => format!("{address:?}"),
    }
}

/// `error` with the operation, its address, and a remedy.
pub(super) fn failed(what: &str, address: &SocketAddr, error: io::Error) -> io::Error {
    let hint = match (what, error.kind()) {
        (LISTEN | BIND, ErrorKind::AddrInUse) => {
            "; the file of a socket outlives its listener: remove it if nobody listens"
        }
        (CONNECT, ErrorKind::ConnectionRefused) => {
            "; the file is there, but nobody listens, or on some systems too many wait"
        }
        _ => "",
    };
    with_context(format!("cannot {what} {}: {error}{hint}", name(address)), error)
}

pub(super) const LISTEN: &str = "listen on";
pub(super) const CONNECT: &str = "connect to";
pub(super) const BIND: &str = "bind to";
pub(super) const SEND: &str = "send to";
