//! The calls that tell the credentials: `SO_PEERCRED` on Linux, `getpeereid` elsewhere.
//!
//! `rustix` has the first, and promises a number of the process that is not zero; the system reports zero for a process
//! outside of this PID namespace.

use std::io;
use std::os::fd::BorrowedFd;

use super::UCred;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn of_peer(socket: BorrowedFd<'_>) -> io::Result<UCred> {
    let nobody = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    // SAFETY: `SO_PEERCRED` is answered by a `ucred`.
    let peer = unsafe { option(socket, libc::SOL_SOCKET, libc::SO_PEERCRED, nobody) }?;
    let pid = u32::try_from(peer.pid).ok().filter(|&pid| pid > 0);
    Ok(UCred { uid: peer.uid, gid: peer.gid, pid })
}

#[cfg(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd",
))]
pub(super) fn of_peer(socket: BorrowedFd<'_>) -> io::Result<UCred> {
    use std::os::fd::AsRawFd;
    let (mut uid, mut gid) = (u32::MAX, u32::MAX);
    // SAFETY: the call writes a user and a group to the two variables, which are of these types.
    let result = unsafe { libc::getpeereid(socket.as_raw_fd(), &raw mut uid, &raw mut gid) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    #[cfg(target_vendor = "apple")]
    let pid = pid_of_peer(socket);
    #[cfg(not(target_vendor = "apple"))]
    let pid = None;
    Ok(UCred { uid, gid, pid })
}

#[cfg(target_vendor = "apple")]
fn pid_of_peer(socket: BorrowedFd<'_>) -> Option<u32> {
    let nobody: libc::pid_t = -1;
    // SAFETY: `LOCAL_PEERPID` is answered by a `pid_t`.
    let pid = unsafe { option(socket, libc::SOL_LOCAL, libc::LOCAL_PEERPID, nobody) };
    pid.ok()?.try_into().ok()
}

/// The value of an option of the socket, which was `value` if the system writes less.
///
/// # Safety
///
/// What the system writes for this option is a `T`, or the first bytes of one.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
unsafe fn option<T: Copy>(
    socket: BorrowedFd<'_>,
    level: i32,
    name: i32,
    mut value: T,
) -> io::Result<T> {
    use std::os::fd::AsRawFd;
    let mut len = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    // SAFETY: the system writes at most `len` bytes to `value`, and has as many there; the caller promises that the result
    // is a `T`.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut value).cast(), &raw mut len)
    };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(value),
    }
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd",
)))]
pub(super) fn of_peer(_: BorrowedFd<'_>) -> io::Result<UCred> {
    let text = "this system does not tell the credentials of a peer";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}
