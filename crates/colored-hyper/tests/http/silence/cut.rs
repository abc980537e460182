//! [`Cut`]: a client that goes silent in the middle of what it says.

use colored::io::{AsyncRead, AsyncWrite, ReadBuf};
use colored::net::TcpStream;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// A connection that sends so many bytes, and swallows all that come after them.
pub(crate) struct Cut {
    stream: TcpStream,
    left: usize,
    /// How many bytes the client has said, sent or not.
    said: Arc<AtomicUsize>,
}

impl Cut {
    pub(crate) fn new(stream: TcpStream, left: usize, said: Arc<AtomicUsize>) -> Cut {
        Cut { stream, left, said }
    }
}

impl Cut {
    /// The connection without the cut.
    pub(crate) fn into_inner(self) -> TcpStream {
        self.stream
    }
}

impl AsyncRead for Cut {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        AsyncRead::poll_read(Pin::new(&mut self.stream), cx, buf)
    }
}

impl AsyncWrite for Cut {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let n = buf.len().min(self.left);
        let n = match n {
            0 => buf.len(),
            n => {
                let sent = AsyncWrite::poll_write(Pin::new(&mut self.stream), cx, &buf[..n]);
                let n = std::task::ready!(sent)?;
                self.left -= n;
                n
            }
        };
        self.said.fetch_add(n, Ordering::Relaxed);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// A silent client closes nothing.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
