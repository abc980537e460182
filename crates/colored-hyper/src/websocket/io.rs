//! [`Io`]: an upgraded connection with the traits of tokio.

use colored::io::{AsyncRead, AsyncWrite, ReadBuf};
use hyper::rt::{Read, Write};
use hyper::upgrade::Upgraded;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Works on any listener, TLS included, and keeps the time limit of the server for writing.
#[derive(Debug)]
pub(super) struct Io {
    upgraded: Upgraded,
    /// Whether something has come since this was asked.
    heard: bool,
}

impl Io {
    pub(super) fn new(upgraded: Upgraded) -> Io {
        Io { upgraded, heard: false }
    }

    pub(super) fn take_heard(&mut self) -> bool {
        std::mem::take(&mut self.heard)
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut initialized = hyper::rt::ReadBuf::new(buf.initialize_unfilled());
        ready!(Pin::new(&mut self.upgraded).poll_read(cx, initialized.unfilled()))?;
        let n = initialized.filled().len();
        buf.advance(n);
        self.heard |= n > 0;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.upgraded).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.upgraded).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.upgraded.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.upgraded).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.upgraded).poll_shutdown(cx)
    }
}
