//! Reading into the buffers of the crate `bytes`.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

pub(super) use bytes::BufMut;

use crate::io::{AsyncRead, AsyncReadExt, ReadBuf};

/// Runs `read` once, with the room that `buf` has at its end, and returns how many bytes it has added. Without room, `read`
/// does not run.
pub(super) fn fill<B: BufMut + ?Sized>(
    buf: &mut B,
    read: impl FnOnce(&mut ReadBuf<'_>) -> io::Result<()>,
) -> io::Result<usize> {
    let mut once = Once(Some(read));
    let filled = pin!(once.read_buf(buf));
    match filled.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(filled) => filled,
        Poll::Pending => unreachable!("`Once` is always ready"),
    }
}

/// A stream of one read, which does not wait. tokio's `read_buf` knows how to hand out memory that is not initialized.
struct Once<F>(Option<F>);

impl<F> Unpin for Once<F> {}

impl<F: FnOnce(&mut ReadBuf<'_>) -> io::Result<()>> AsyncRead for Once<F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.take().map_or(Ok(()), |read| read(buf)))
    }
}
