//! [`read_seen`]: a read whose bytes are seen on their way.

use hyper::rt::{Read, ReadBuf, ReadBufCursor};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Reads from `io` into `buf`, and shows the bytes to `see`. A cursor of hyper does not tell what it has got.
pub(super) fn read_seen<T: Read + Unpin>(
    io: &mut T,
    cx: &mut Context<'_>,
    mut buf: ReadBufCursor<'_>,
    see: impl FnOnce(&[u8]),
) -> Poll<io::Result<()>> {
    // SAFETY: the slice goes to a `ReadBuf` alone, which is written by its cursor and so never de-initialized.
    let unfilled = unsafe { buf.as_mut() };
    let mut read = ReadBuf::uninit(unfilled);
    ready!(Pin::new(io).poll_read(cx, read.unfilled()))?;
    see(read.filled());
    let n = read.filled().len();
    // SAFETY: the filled part of the `ReadBuf` above is initialized, and is the first part of this cursor.
    unsafe { buf.advance(n) };
    Poll::Ready(Ok(()))
}
