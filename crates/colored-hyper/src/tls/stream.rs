//! [`Stream`]: a server's connection over TLS.

use colored::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_rustls::rustls::ServerConnection;
use tokio_rustls::server::TlsStream;

/// A connection of a client over TLS, which a [`Listener`](super::Listener) makes. It implements the traits of hyper and
/// those of tokio.
///
/// The end of a connection without TLS's own notice of the end reads as an end: many clients leave the notice out, and
/// no request of HTTP depends on it, because each tells its length. A protocol after an upgrade must tell its lengths
/// as well, as WebSocket does.
#[derive(Debug)]
pub struct Stream<T> {
    tls: TlsStream<T>,
    failed: Failed,
}

impl<T> Stream<T> {
    pub(super) fn new(tls: TlsStream<T>) -> Stream<T> {
        Stream { tls, failed: None }
    }

    /// The connection below, and what rustls knows of this one: the protocol of ALPN, the name that the client asked
    /// for, the certificates of the client.
    pub fn get_ref(&self) -> (&T, &ServerConnection) {
        self.tls.get_ref()
    }
}

/// An error that came behind bytes, and is to be returned after them.
pub(super) type Failed = Option<io::Error>;

/// Reads what rustls has decrypted, without a buffer between: as many records as are there, because whoever reads may look
/// again at all that it has got whenever it gets more.
pub(super) fn fill<S: AsyncBufRead + Unpin>(
    stream: &mut S,
    failed: &mut Failed,
    cx: &mut Context<'_>,
    mut buf: ReadBufCursor<'_>,
) -> Poll<io::Result<()>> {
    if let Some(error) = failed.take() {
        return Poll::Ready(Err(error));
    }
    let mut is_first = true;
    while buf.remaining() > 0 {
        let plain = match Pin::new(&mut *stream).poll_fill_buf(cx) {
            Poll::Ready(Ok([])) => break,
            Poll::Ready(Ok(plain)) => plain,
            Poll::Ready(Err(error)) if is_first => return Poll::Ready(Err(error)),
            Poll::Ready(Err(error)) => {
                *failed = Some(error);
                break;
            }
            Poll::Pending if is_first => return Poll::Pending,
            Poll::Pending => break,
        };
        let n = plain.len().min(buf.remaining());
        buf.put_slice(&plain[..n]);
        Pin::new(&mut *stream).consume(n);
        is_first = false;
    }
    Poll::Ready(Ok(()))
}

fn without_notice(read: io::Result<()>) -> io::Result<()> {
    match read {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(()),
        read => read,
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Read for Stream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        fill(&mut this.tls, &mut this.failed, cx, buf).map(without_notice)
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(error) = self.failed.take() {
            return Poll::Ready(without_notice(Err(error)));
        }
        AsyncRead::poll_read(Pin::new(&mut self.tls), cx, buf).map(without_notice)
    }
}

macro_rules! writes {
    ($($of:ident),*) => {$(
        impl<T: AsyncRead + AsyncWrite + Unpin> $of for Stream<T> {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                AsyncWrite::poll_write(Pin::new(&mut self.tls), cx, buf)
            }

            fn poll_write_vectored(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                AsyncWrite::poll_write_vectored(Pin::new(&mut self.tls), cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                AsyncWrite::is_write_vectored(&self.tls)
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                AsyncWrite::poll_flush(Pin::new(&mut self.tls), cx)
            }

            fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                AsyncWrite::poll_shutdown(Pin::new(&mut self.tls), cx)
            }
        }
    )*};
}

writes!(Write, AsyncWrite);
