//! Errors of simulated sockets, with the numbers of the system.

use std::io::{self, ErrorKind};

/// The error of a socket of this system that has this kind.
#[cfg(unix)]
pub(crate) fn error(kind: ErrorKind) -> io::Error {
    io::Error::from_raw_os_error(match kind {
        ErrorKind::AddrInUse => libc::EADDRINUSE,
        ErrorKind::AddrNotAvailable => libc::EADDRNOTAVAIL,
        ErrorKind::BrokenPipe => libc::EPIPE,
        ErrorKind::ConnectionRefused => libc::ECONNREFUSED,
        ErrorKind::ConnectionReset => libc::ECONNRESET,
        ErrorKind::InvalidInput => libc::EINVAL,
        ErrorKind::NotConnected => libc::ENOTCONN,
        ErrorKind::TimedOut => libc::ETIMEDOUT,
        ErrorKind::WouldBlock => libc::EAGAIN,
        other => return other.into(),
    })
}

#[cfg(not(unix))]
pub(crate) fn error(kind: ErrorKind) -> io::Error {
    kind.into()
}

/// The address is not of the kind of the socket.
pub(crate) fn wrong_family() -> io::Error {
    #[cfg(unix)]
    return io::Error::from_raw_os_error(libc::EAFNOSUPPORT);
    #[cfg(not(unix))]
    return error(ErrorKind::InvalidInput);
}

/// There is nobody to send a datagram to.
pub(super) fn no_destination() -> io::Error {
    #[cfg(unix)]
    return io::Error::from_raw_os_error(libc::EDESTADDRREQ);
    #[cfg(not(unix))]
    return error(ErrorKind::NotConnected);
}

/// A datagram is too long.
pub(super) fn too_long() -> io::Error {
    #[cfg(unix)]
    return io::Error::from_raw_os_error(libc::EMSGSIZE);
    #[cfg(not(unix))]
    return error(ErrorKind::InvalidInput);
}
