//! [`Io`]: an upgraded connection with the traits of tokio.

use colored::io::{AsyncRead, AsyncWrite, ReadBuf};
use hyper::rt::{Read, Write};
use hyper::upgrade::Upgraded;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How many bytes of answers may wait for a client that does not read. A guess: hundreds of the longest ones.
const ANSWERS: usize = 64 << 10;

/// Works on any listener, TLS included, and keeps the time limit of the server for writing. While too many answers wait to
/// be sent, it reads nothing, so that the client cannot make them more.
#[derive(Debug)]
pub(super) struct Io {
    upgraded: Upgraded,
    /// Whether something has come since this was asked.
    heard: bool,
    /// At least so many bytes of answers have come into the buffer since it was empty.
    answers: usize,
}

impl Io {
    pub(super) fn new(upgraded: Upgraded) -> Io {
        Io { upgraded, heard: false, answers: 0 }
    }

    pub(super) fn take_heard(&mut self) -> bool {
        std::mem::take(&mut self.heard)
    }

    /// The client has asked for an answer of so many bytes.
    pub(super) fn note_answer(&mut self, len: usize) {
        self.answers += len;
    }

    /// Whether the answers that wait are too many to read on. The task waits for room to send them.
    pub(super) fn is_full(&self) -> bool {
        self.answers > ANSWERS
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_full() {
            return Poll::Pending;
        }
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

    /// The WebSocket flushes when its buffer is empty.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.upgraded).poll_flush(cx);
        if flushed.is_ready() {
            self.answers = 0;
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.upgraded).poll_shutdown(cx)
    }
}
