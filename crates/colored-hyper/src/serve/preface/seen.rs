//! [`read_seen`]: a read whose bytes are seen on their way.

use hyper::rt::{Read, ReadBuf, ReadBufCursor};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Reads from `io` into `buf`, and shows the bytes to `see`, which returns how many of the first ones are dropped. A cursor of
/// hyper does not tell what it has got.
pub(super) fn read_seen<T: Read + Unpin>(
    io: &mut T,
    cx: &mut Context<'_>,
    mut buf: ReadBufCursor<'_>,
    see: impl FnOnce(&[u8]) -> usize,
) -> Poll<io::Result<()>> {
    // SAFETY: the slice goes to a `ReadBuf` alone, which is written by its cursor and so never de-initialized, and then its
    // initialized part is moved within it.
    let unfilled = unsafe { buf.as_mut() };
    let mut read = ReadBuf::uninit(unfilled);
    ready!(Pin::new(io).poll_read(cx, read.unfilled()))?;
    let (n, dropped) = (read.filled().len(), see(read.filled()));
    if dropped > 0 {
        unfilled.copy_within(dropped..n, 0);
    }
    // SAFETY: the filled part of the `ReadBuf` above is initialized, and what is left of it is the first part of this cursor.
    unsafe { buf.advance(n - dropped) };
    if n > 0 && n == dropped {
        // Nothing would be the end.
        cx.waker().wake_by_ref();
        return Poll::Pending;
    }
    Poll::Ready(Ok(()))
}
