//! Detection of the HTTP version of a client.

mod seen;

use self::seen::read_seen;
use super::activity::Activity;
use super::bodies::Bodies;
use super::stall::Stall;
use super::version::Version;
use bytes::Bytes;
use colored::net::Progress;
use colored::time::Duration;
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The first bytes of every HTTP/2 connection (RFC 9113, section 3.4). No HTTP/1 request begins with
/// them.
const HTTP2: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection whose first bytes may have been read already, and are read again.
pub(super) struct Prefaced<T> {
    io: T,
    /// How far the bytes of `io` have come.
    progress: fn(&T) -> Option<Progress>,
    bytes: [u8; HTTP2.len()],
    /// `bytes[next..end]` is still to be read.
    next: usize,
    end: usize,
    /// An error that came with bytes, and is to be returned after them.
    failed: Option<io::Error>,
    activity: Activity,
    stall: Stall,
    bodies: Bodies,
}

impl<T: Read + Unpin> Prefaced<T> {
    /// `write_timeout` limits how long the client takes nothing of what the server writes, and `body_read_timeout` how long
    /// it sends nothing of a body.
    pub(super) fn new(
        io: T,
        progress: fn(&T) -> Option<Progress>,
        write_timeout: Option<Duration>,
        body_read_timeout: Option<Duration>,
    ) -> Prefaced<T> {
        let (stall, bodies) = (Stall::new(write_timeout), Bodies::new(body_read_timeout));
        let activity = Activity::new();
        Prefaced {
            io,
            progress,
            bytes: [0; HTTP2.len()],
            next: 0,
            end: 0,
            failed: None,
            activity,
            stall,
            bodies,
        }
    }

    /// The socket, and the bytes that are still to be read again.
    pub(super) fn into_parts(self) -> (T, Bytes) {
        (self.io, Bytes::copy_from_slice(&self.bytes[self.next..self.end]))
    }

    /// The connection, which speaks `version` from now on, and what it does. It takes the connection by value, because a
    /// future keeps room for what it has lent.
    pub(super) fn speaking(mut self, version: Version) -> (Prefaced<T>, Activity) {
        let activity = self.activity.clone();
        if version == Version::Http2 {
            activity.begin_flow();
        }
        self.bodies.speak(version, &activity);
        (self, activity)
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

impl<T> Prefaced<T> {
    /// Looks how far the responses have come, if one of them has asked.
    fn answer(&self) {
        if let Some(flow) = self.activity.flow() {
            flow.answer(self.activity.responses(), || (self.progress)(&self.io));
        }
    }

    /// What an attempt to write has come to.
    fn wrote<W>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<W>>,
    ) -> Poll<io::Result<W>> {
        self.answer();
        let Prefaced { io, progress, stall, .. } = self;
        stall.check(cx, written, || progress(io))
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
        self.answer();
        let this = &mut *self;
        let n = buf.remaining().min(this.end - this.next);
        let again = &this.bytes[this.next..this.next + n];
        buf.put_slice(again);
        this.bodies.note_read(again);
        this.next += n;
        if n > 0 && buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let bodies = &mut this.bodies;
        let read = read_seen(&mut this.io, cx, buf, |bytes| bodies.note_read(bytes));
        if read.is_ready() {
            this.activity.set_answered(false);
        }
        match read {
            // The rest of the first request comes with its first bytes. Were these given alone, hyper would find half a
            // request, and double its buffer for the rest.
            Poll::Pending if n > 0 => Poll::Ready(Ok(())),
            Poll::Pending => {
                let received = || (this.progress)(&this.io)?.received;
                this.bodies.poll_owed(cx, received).map(Err)
            }
            Poll::Ready(Err(error)) if n > 0 => {
                this.failed = Some(error);
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
        self.activity.set_answered(true);
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        if let Poll::Ready(Ok(n)) = written {
            self.bodies.note_written(&buf[..n]);
        }
        self.wrote(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.activity.set_answered(true);
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        if let Poll::Ready(Ok(mut left)) = written {
            for buf in bufs {
                let n = left.min(buf.len());
                self.bodies.note_written(&buf[..n]);
                left -= n;
            }
        }
        self.wrote(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.io).poll_flush(cx);
        self.wrote(cx, written)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.io).poll_shutdown(cx);
        self.wrote(cx, written)
    }
}
