//! Detection of the HTTP version of a client.

use super::stall::Stall;
use bytes::Bytes;
use colored::time::Duration;
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

/// The first bytes of every HTTP/2 connection (RFC 9113, section 3.4). No HTTP/1 request begins with
/// them.
const HTTP2: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

impl Version {
    /// The names in ALPN, in the order of preference, of the one version or of both.
    pub(super) fn offers(only: Option<Version>) -> &'static [&'static [u8]] {
        match only {
            None => &[b"h2", b"http/1.1"],
            Some(Version::Http1) => &[b"http/1.1"],
            Some(Version::Http2) => &[b"h2"],
        }
    }
}

/// A connection whose first bytes may have been read already, and are read again.
pub(super) struct Prefaced<T> {
    io: T,
    bytes: [u8; HTTP2.len()],
    /// `bytes[next..end]` is still to be read.
    next: usize,
    end: usize,
    /// An error that came with bytes, and is to be returned after them.
    failed: Option<io::Error>,
    answered: Answered,
    stall: Stall,
}

/// Whether the server sent the last bytes on a connection: between two requests this distinguishes an
/// idle client from a slow one.
#[derive(Clone, Default)]
pub(super) struct Answered(Arc<AtomicBool>);

impl Answered {
    pub(super) fn get(&self) -> bool {
        // Ordering: the task of the connection reads what it wrote.
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, answered: bool) {
        // Ordering: see `get`.
        self.0.store(answered, Ordering::Relaxed);
    }
}

impl<T: Read + Unpin> Prefaced<T> {
    /// `write_timeout` limits how long the client takes nothing of what the server writes.
    pub(super) fn new(io: T, write_timeout: Option<Duration>) -> Prefaced<T> {
        let (answered, stall) = (Answered::default(), Stall::new(write_timeout));
        Prefaced { io, bytes: [0; HTTP2.len()], next: 0, end: 0, failed: None, answered, stall }
    }

    /// The socket, and the bytes that are still to be read again.
    pub(super) fn into_parts(self) -> (T, Bytes) {
        (self.io, Bytes::copy_from_slice(&self.bytes[self.next..self.end]))
    }

    /// The connection, and what tells of its answers. It takes the connection by value, because a future keeps room for what
    /// it has lent.
    pub(super) fn and_answered(self) -> (Prefaced<T>, Answered) {
        let answered = self.answered.clone();
        (self, answered)
    }

    /// Reads until the version is clear; `None` if the client closes the connection without sending
    /// anything.
    pub(super) async fn version(&mut self) -> io::Result<Option<Version>> {
        while self.end < HTTP2.len() {
            match self.read_more().await? {
                0 if self.end == 0 => return Ok(None),
                // hyper has the words for half a request.
                0 => return Ok(Some(Version::Http1)),
                n => self.end += n,
            }
            if !HTTP2.starts_with(&self.bytes[..self.end]) {
                return Ok(Some(Version::Http1));
            }
        }
        Ok(Some(Version::Http2))
    }

    /// Reads behind the bytes that have been read.
    async fn read_more(&mut self) -> io::Result<usize> {
        poll_fn(|cx| {
            let mut buf = ReadBuf::new(&mut self.bytes[self.end..]);
            ready!(Pin::new(&mut self.io).poll_read(cx, buf.unfilled()))?;
            Poll::Ready(Ok(buf.filled().len()))
        })
        .await
    }
}

impl<T: Read + Unpin> Read for Prefaced<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(error) = self.failed.take() {
            return Poll::Ready(Err(error));
        }
        let n = buf.remaining().min(self.end - self.next);
        buf.put_slice(&self.bytes[self.next..self.next + n]);
        self.next += n;
        if n > 0 && buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let read = Pin::new(&mut self.io).poll_read(cx, buf);
        if read.is_ready() {
            self.answered.set(false);
        }
        match read {
            // The rest of the first request comes with its first bytes. Were these given alone, hyper would find half a
            // request, and double its buffer for the rest.
            Poll::Pending if n > 0 => Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) if n > 0 => {
                self.failed = Some(error);
                Poll::Ready(Ok(()))
            }
            read => read,
        }
    }
}

impl<T: Write + Unpin> Write for Prefaced<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.answered.set(true);
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.stall.check(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.answered.set(true);
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.stall.check(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.io).poll_flush(cx);
        self.stall.check(cx, written)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.io).poll_shutdown(cx);
        self.stall.check(cx, written)
    }
}
