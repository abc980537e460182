//! [`Metered`]: streams that never wait take units of the budget.

use super::{
    AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf, ReadHalf, SeekFrom, WriteHalf,
};
use crate::budget;
use pin_project_lite::pin_project;
use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// A stream whose operations take a unit of the [budget](crate::task::consume_budget) each, unless they take some by
    /// themselves.
    ///
    /// It is for a stream of another crate that is always ready: without it a loop over the stream never ends its poll, and a
    /// [`timeout`](crate::time::timeout()) around the loop never fires.
    #[derive(Clone, Copy, Default)]
    pub struct Metered<T> {
        #[pin]
        inner: T,
    }
}

impl<T> Metered<T> {
    /// `inner`, metered.
    pub fn new(inner: T) -> Self {
        Self { inner }
    }

    /// The stream.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// The stream.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// The stream.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: fmt::Debug> fmt::Debug for Metered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Polls if a unit is left. What is ready costs one.
fn metered<R>(cx: &mut Context<'_>, poll: impl FnOnce(&mut Context<'_>) -> Poll<R>) -> Poll<R> {
    ready!(budget::poll_remaining(cx));
    let before = budget::remaining();
    let polled = poll(cx);
    if polled.is_ready() && budget::remaining() == before {
        budget::spend(1);
    }
    polled
}

impl<T: AsyncRead> AsyncRead for Metered<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        metered(cx, |cx| self.project().inner.poll_read(cx, buf))
    }
}

impl<T: AsyncBufRead> AsyncBufRead for Metered<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        metered(cx, |cx| self.project().inner.poll_fill_buf(cx))
    }

    fn consume(self: Pin<&mut Self>, bytes: usize) {
        self.project().inner.consume(bytes);
    }
}

impl<T: AsyncWrite> AsyncWrite for Metered<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        metered(cx, |cx| self.project().inner.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        metered(cx, |cx| self.project().inner.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        metered(cx, |cx| self.project().inner.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        metered(cx, |cx| self.project().inner.poll_shutdown(cx))
    }
}

impl<T: AsyncSeek> AsyncSeek for Metered<T> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.project().inner.start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        metered(cx, |cx| self.project().inner.poll_complete(cx))
    }
}

/// Reads nothing, and takes everything: [`tokio::io::Empty`].
pub type Empty = Metered<tokio::io::Empty>;

/// Reads one byte for ever: [`tokio::io::Repeat`].
pub type Repeat = Metered<tokio::io::Repeat>;

/// Takes everything: [`tokio::io::Sink`].
pub type Sink = Metered<tokio::io::Sink>;

/// One end of a connection in memory: [`tokio::io::DuplexStream`].
pub type DuplexStream = Metered<tokio::io::DuplexStream>;

/// Bytes on their way in memory: [`tokio::io::SimplexStream`].
pub type SimplexStream = Metered<tokio::io::SimplexStream>;

/// A reader that is at its end, and a writer to nowhere.
#[must_use]
pub fn empty() -> Empty {
    Metered::new(tokio::io::empty())
}

/// A reader of this byte, without an end.
#[must_use]
pub fn repeat(byte: u8) -> Repeat {
    Metered::new(tokio::io::repeat(byte))
}

/// A writer to nowhere.
#[must_use]
pub fn sink() -> Sink {
    Metered::new(tokio::io::sink())
}

/// The two ends of a connection in memory, which keeps up to so many bytes in each direction.
///
/// # Panics
///
/// If `most` is 0.
#[must_use]
#[track_caller]
pub fn duplex(most: usize) -> (DuplexStream, DuplexStream) {
    let (one, other) = tokio::io::duplex(most);
    (Metered::new(one), Metered::new(other))
}

/// A pipe in memory, which keeps up to so many bytes.
///
/// # Panics
///
/// If `most` is 0.
#[must_use]
#[track_caller]
pub fn simplex(most: usize) -> (ReadHalf<SimplexStream>, WriteHalf<SimplexStream>) {
    super::split(SimplexStream::new_unsplit(most))
}

impl SimplexStream {
    /// As [`simplex`], in one piece.
    ///
    /// # Panics
    ///
    /// As `simplex`.
    #[must_use]
    #[track_caller]
    pub fn new_unsplit(most: usize) -> Self {
        Self::new(tokio::io::SimplexStream::new_unsplit(most))
    }
}
