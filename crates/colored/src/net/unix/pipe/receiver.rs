//! The end to read from.

use std::fmt;
use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::end::{End, Way, methods};
use crate::io::{AsyncRead, Interest, ReadBuf, Ready};
use crate::net::buf_mut::{self, BufMut};
use crate::registration::Registered;

/// The end of a pipe to read from; see [`pipe`](super::pipe()).
///
/// Tasks may share it in an [`Arc`](std::sync::Arc): `&Receiver` implements [`AsyncRead`], too.
pub struct Receiver {
    inner: Registered<End>,
}

// Not ready before the system says so: a read of a FIFO that no sender has opened yet would find the end.
methods!(Receiver, Way::Reads, Ready::EMPTY, Interest::READABLE, "reading");

impl Receiver {
    /// Waits until there is something to read, which may be the end. Cancel safe.
    ///
    /// This is a hint: [`try_read`](Self::try_read) may still answer `WouldBlock`.
    pub async fn readable(&self) -> io::Result<()> {
        self.ready(Interest::READABLE).await.map(|_| ())
    }

    /// Like [`readable`](Self::readable); only the last task to poll is woken.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(cx, Interest::READABLE)
    }

    /// Reads the available bytes, and returns their number; 0 means that no sender is left.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read, or the reactor does not know of it yet.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.inner.try_io(Interest::READABLE, |end| (&end.file).read(buf)).map(|(_, n)| n)
    }

    /// Like [`try_read`](Self::try_read) into several buffers, one after the other.
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let read = |end: &End| (&end.file).read_vectored(bufs);
        self.inner.try_io(Interest::READABLE, read).map(|(_, n)| n)
    }

    /// Like [`try_read`](Self::try_read), behind what `buf` has, as far as it has room.
    pub fn try_read_buf(&self, buf: &mut (impl BufMut + ?Sized)) -> io::Result<usize> {
        buf_mut::fill(buf, |buf| {
            self.inner.try_io(Interest::READABLE, |end| read(end, buf)).map(|_| ())
        })
    }

    fn poll_read_with(
        &self,
        cx: &mut Context<'_>,
        room: usize,
        mut read: impl FnMut(&File) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        // An empty read is done: it must not wait for a sender that may never write.
        if room == 0 {
            return Poll::Ready(Ok(0));
        }
        let read = |end: &End| read(&end.file);
        let (_, n) = ready!(self.inner.poll_io(cx, Interest::READABLE, read))?;
        Poll::Ready(Ok(n))
    }
}

/// Reads once into the unfilled part of `buf`.
fn read(end: &End, buf: &mut ReadBuf<'_>) -> io::Result<()> {
    let n = (&end.file).read(buf.initialize_unfilled())?;
    buf.advance(n);
    Ok(())
}

macro_rules! implement {
    ($($type:ty),*) => {$(
        impl AsyncRead for $type {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let unfilled = buf.initialize_unfilled();
                let room = unfilled.len();
                let n = ready!(self.poll_read_with(cx, room, |mut pipe| pipe.read(unfilled)))?;
                buf.advance(n);
                Poll::Ready(Ok(()))
            }
        }

        #[cfg(feature = "futures-io")]
        impl futures_io::AsyncRead for $type {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                self.poll_read_with(cx, buf.len(), |mut pipe| pipe.read(buf))
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                let room = bufs.iter().map(|buf| buf.len()).sum();
                self.poll_read_with(cx, room, |mut pipe| pipe.read_vectored(bufs))
            }
        }
    )*};
}

implement!(Receiver, &Receiver);
