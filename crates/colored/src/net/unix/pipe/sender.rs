//! The end to write to.

use std::fmt;
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::end::{End, Way, methods};
use crate::io::{AsyncWrite, Interest, Ready};
use crate::registration::Registered;

/// The end of a pipe to write to; see [`pipe`](super::pipe()).
///
/// Tasks may share it in an [`Arc`](std::sync::Arc): `&Sender` implements [`AsyncWrite`], too. Writes of at most
/// `PIPE_BUF` bytes, which is 512 or more and 4,096 on Linux, are not mixed with other writes.
pub struct Sender {
    inner: Registered<End>,
}

methods!(Sender, Way::Writes, Ready::WRITABLE, Interest::WRITABLE, "writing");

impl Sender {
    /// Waits until something can be written, be it with the error that no receiver is left. Cancel safe.
    ///
    /// This is a hint: [`try_write`](Self::try_write) may still answer `WouldBlock`.
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(Interest::WRITABLE).await.map(|_| ())
    }

    /// Like [`writable`](Self::writable); only the last task to poll is woken.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(cx, Interest::WRITABLE)
    }

    /// Writes as many bytes as there is room for, and returns their number.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet;
    /// [`BrokenPipe`](io::ErrorKind::BrokenPipe) if no receiver is left.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.inner.try_io(Interest::WRITABLE, |end| (&end.file).write(buf)).map(|(_, n)| n)
    }

    /// Like [`try_write`](Self::try_write) from several buffers, one after the other.
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let write = |end: &End| (&end.file).write_vectored(bufs);
        self.inner.try_io(Interest::WRITABLE, write).map(|(_, n)| n)
    }

    fn poll_write_with(
        &self,
        cx: &mut Context<'_>,
        len: usize,
        mut write: impl FnMut(&File) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if len == 0 {
            return Poll::Ready(Ok(0));
        }
        let write = |end: &End| write(&end.file);
        let (_, n) = ready!(self.inner.poll_io(cx, Interest::WRITABLE, write))?;
        Poll::Ready(Ok(n))
    }

    fn poll_write_bufs(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.poll_write_with(cx, len, |mut pipe| pipe.write_vectored(bufs))
    }
}

macro_rules! implement {
    ($($type:ty),*) => {$(
        impl AsyncWrite for $type {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.poll_write_with(cx, buf.len(), |mut pipe| pipe.write(buf))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.poll_write_bufs(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
        }

        #[cfg(feature = "futures-io")]
        impl futures_io::AsyncWrite for $type {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.poll_write_with(cx, buf.len(), |mut pipe| pipe.write(buf))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.poll_write_bufs(cx, bufs)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
        }
    )*};
}

implement!(Sender, &Sender);
