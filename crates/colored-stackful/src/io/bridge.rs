//! Any async stream as one of the standard library.

use std::io::{self, BufRead, IoSlice, Read, Seek, SeekFrom, Write};

use colored::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite,
    AsyncWriteExt,
};

use super::complete;

/// An async stream, of any library, as `Read`, `Write`, `BufRead` and `Seek`: what it is of these itself.
///
/// Each operation [waits](crate::wait()) for that of the stream. In-memory streams do not consume the budget: a loop over
/// them lets others run only where it calls [`yield_now`](crate::yield_now).
///
/// ```
/// use std::io::Read;
///
/// use colored_stackful as stackful;
/// use stackful::io::SyncIoBridge;
///
/// # #[colored::main]
/// # async fn main() {
/// let task = stackful::spawn_unique(|| {
///     // Any `AsyncRead`: TLS, a decompressor, the output of a child.
///     let mut stream = SyncIoBridge::new(&b"hello"[..]);
///     let mut text = String::new();
///     stream.read_to_string(&mut text).map(|_| text)
/// });
/// assert_eq!(task.await.unwrap().unwrap(), "hello");
/// # }
/// ```
#[derive(Debug)]
pub struct SyncIoBridge<S> {
    inner: S,
}

impl<S> SyncIoBridge<S> {
    /// Wraps a stream.
    pub const fn new(stream: S) -> SyncIoBridge<S> {
        SyncIoBridge { inner: stream }
    }

    /// The stream.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The stream.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Gives the stream back.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: AsyncWrite + Unpin> SyncIoBridge<S> {
    /// Flushes, and ends the writing direction: the peer reads the end of the stream.
    ///
    /// # Errors
    ///
    /// The stream's.
    pub fn shutdown(&mut self) -> io::Result<()> {
        complete(self.inner.shutdown())
    }
}

impl<S: AsyncRead + Unpin> Read for SyncIoBridge<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        complete(self.inner.read(buf))
    }
}

impl<S: AsyncBufRead + Unpin> BufRead for SyncIoBridge<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        complete(self.inner.fill_buf())
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

impl<S: AsyncWrite + Unpin> Write for SyncIoBridge<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        complete(self.inner.write(buf))
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        complete(self.inner.write_vectored(bufs))
    }

    fn flush(&mut self) -> io::Result<()> {
        complete(self.inner.flush())
    }
}

impl<S: AsyncSeek + Unpin> Seek for SyncIoBridge<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        complete(self.inner.seek(to))
    }
}
