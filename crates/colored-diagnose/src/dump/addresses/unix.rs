//! The calls that tell an address by the number of a descriptor, which a dump does not own.

use socket2::{SockAddr, SockAddrStorage};
use std::ffi::c_int;
use std::io;

/// `getsockname` or `getpeername`.
type Call = unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> c_int;

/// The address of this side. `None` if the descriptor is no socket's, or if it is closed.
pub(super) fn local(descriptor: c_int) -> Option<SockAddr> {
    address(descriptor, libc::getsockname)
}

/// The address of the other side; `None` also if there is none.
pub(super) fn peer(descriptor: c_int) -> Option<SockAddr> {
    address(descriptor, libc::getpeername)
}

fn address(descriptor: c_int, call: Call) -> Option<SockAddr> {
    let init = |storage: *mut SockAddrStorage, len: *mut libc::socklen_t| {
        // SAFETY: both calls write at most `len` bytes to `storage`, and their number to `len`. A descriptor that is
        // closed is an error to them, and they leave every descriptor as it is.
        match unsafe { call(descriptor, storage.cast(), len) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: `init` leaves an address and its length if it succeeds.
    let result = unsafe { SockAddr::try_init(init) };
    result.ok().map(|((), address)| address)
}
