//! The calls that tell it: `TCP_INFO` and `SIOCOUTQ`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::{Progress, unsupported};

/// The words of 64 bits in a `tcp_info`, up to the last one that matters here.
const WORDS: usize = 17;

/// `tcpi_bytes_acked` and `tcpi_bytes_received`, which are at 120 and 128 bytes on every processor.
const ACKNOWLEDGED: usize = 15;
const RECEIVED: usize = 16;

pub(super) fn of_tcp(socket: BorrowedFd<'_>) -> io::Result<Progress> {
    let mut info = [0_u64; WORDS];
    let full = libc::socklen_t::try_from(size_of_val(&info)).map_err(io::Error::other)?;
    let mut len = full;
    // SAFETY: the system writes at most `len` bytes to `info`, which has as many, and any bytes are numbers.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut len,
        )
    };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ if len < full => Err(unsupported()),
        _ => Ok(Progress {
            received: Some(info[RECEIVED]),
            acknowledged: Some(info[ACKNOWLEDGED]),
            queued: queued(socket)?,
        }),
    }
}

pub(super) fn of_unix(socket: BorrowedFd<'_>) -> io::Result<Progress> {
    Ok(Progress { received: None, acknowledged: None, queued: queued(socket)? })
}

fn queued(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut queued: libc::c_int = 0;
    // SAFETY: `SIOCOUTQ`, which is the same number as `TIOCOUTQ`, writes an `int`.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut queued) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(u64::try_from(queued).unwrap_or(0)),
    }
}
