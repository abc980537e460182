//! Errors of simulated sockets, with the numbers of the system.

pub(super) use self::system::{error, no_destination, too_long, wrong_family};

#[cfg(unix)]
mod system {
    use std::io::{self, ErrorKind};

    /// The error of a socket of this system that has this kind.
    pub(in crate::world::network) fn error(kind: ErrorKind) -> io::Error {
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

    /// The address is not of the kind of the socket.
    pub(in crate::world::network) fn wrong_family() -> io::Error {
        io::Error::from_raw_os_error(libc::EAFNOSUPPORT)
    }

    /// There is nobody to send a datagram to.
    pub(in crate::world::network) fn no_destination() -> io::Error {
        io::Error::from_raw_os_error(libc::EDESTADDRREQ)
    }

    /// A datagram is too long.
    pub(in crate::world::network) fn too_long() -> io::Error {
        io::Error::from_raw_os_error(libc::EMSGSIZE)
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{self, ErrorKind};

    /// The error of a socket that has this kind.
    pub(in crate::world::network) fn error(kind: ErrorKind) -> io::Error {
        kind.into()
    }

    /// The address is not of the kind of the socket.
    pub(in crate::world::network) fn wrong_family() -> io::Error {
        error(ErrorKind::InvalidInput)
    }

    /// There is nobody to send a datagram to.
    pub(in crate::world::network) fn no_destination() -> io::Error {
        error(ErrorKind::NotConnected)
    }

    /// A datagram is too long.
    pub(in crate::world::network) fn too_long() -> io::Error {
        error(ErrorKind::InvalidInput)
    }
}
