//! A stream socket of the system, of any family.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;

use socket2::SockRef;

pub(super) use colored_machine::Moved;

use super::uninit::Mode;
use crate::driver::reactor;

/// A connected socket of mio. The differences between address families are here; the rest is written once.
pub(super) trait Socket: reactor::Socket {
    /// Whether messages of the system may pass beside the bytes. A read ends behind bytes that came with
    /// one, though more bytes are there, of which no event tells any more.
    const HAS_ANCILLARY: bool;

    /// The calls that mio has no method for.
    fn system(&self) -> SockRef<'_>;

    /// Runs `operation`, so that mio learns of a `WouldBlock` where it has to.
    fn try_io<T>(&self, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T>;

    fn read(&self, buf: &mut [u8]) -> io::Result<Moved>;
    fn read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<Moved>;
    fn write(&self, buf: &[u8]) -> io::Result<Moved>;
    fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<Moved>;
    fn shutdown(&self, how: Shutdown) -> io::Result<()>;

    /// As `recv(2)`, of a simulated socket. None of a socket of the system. Initializes as many bytes at the start of
    /// `buf` as it returns.
    #[inline]
    fn receive_simulated(&self, _: &mut [MaybeUninit<u8>], _: Mode) -> Option<io::Result<Moved>> {
        None
    }
}

/// The system moves no more pieces in one call, and there may be bytes or room left: `IOV_MAX`, or less.
const MOST_PIECES: usize = 16;

macro_rules! socket {
    ($type:ty, HAS_ANCILLARY = $has:literal) => {
        impl Socket for $type {
            const HAS_ANCILLARY: bool = $has;

            fn system(&self) -> SockRef<'_> {
                SockRef::from(self)
            }

            fn try_io<T>(&self, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
                <$type>::try_io(self, operation)
            }

            fn read(&self, buf: &mut [u8]) -> io::Result<Moved> {
                Ok(Moved { bytes: Read::read(&mut &*self, buf)?, is_all: !$has })
            }

            fn read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<Moved> {
                let is_all = !$has && bufs.len() <= MOST_PIECES;
                Ok(Moved { bytes: Read::read_vectored(&mut &*self, bufs)?, is_all })
            }

            fn write(&self, buf: &[u8]) -> io::Result<Moved> {
                Ok(Moved { bytes: Write::write(&mut &*self, buf)?, is_all: true })
            }

            fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<Moved> {
                let is_all = bufs.len() <= MOST_PIECES;
                Ok(Moved { bytes: Write::write_vectored(&mut &*self, bufs)?, is_all })
            }

            fn shutdown(&self, how: Shutdown) -> io::Result<()> {
                <$type>::shutdown(self, how)
            }
        }
    };
}

socket!(mio::net::TcpStream, HAS_ANCILLARY = false);
// Descriptors, and on request the credentials of the sender.
#[cfg(unix)]
socket!(mio::net::UnixStream, HAS_ANCILLARY = true);
