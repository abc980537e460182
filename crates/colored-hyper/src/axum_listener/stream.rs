//! [`AxumStream`]: a connection under `axum::serve`.

use crate::Listener;
use colored::io::{AsyncRead, AsyncWrite, ReadBuf};
use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A connection of an [`AxumListener`](super::AxumListener). The first read or write makes the handshake of the listener.
pub struct AxumStream<L: Listener>(State<L>);

enum State<L: Listener> {
    Handshake(Pin<Box<L::Handshake>>),
    Open(L::Io),
    /// The handshake failed, and its error has been returned.
    Failed,
}

impl<L: Listener> AxumStream<L> {
    pub(super) fn new(handshake: L::Handshake) -> AxumStream<L> {
        AxumStream(State::Handshake(Box::pin(handshake)))
    }

    /// The connection, once it is ready.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Pin<&mut L::Io>>> {
        if let State::Handshake(handshake) = &mut self.0 {
            match ready!(handshake.as_mut().poll(cx)) {
                Ok(io) => self.0 = State::Open(io),
                Err(error) => {
                    self.0 = State::Failed;
                    return Poll::Ready(Err(error));
                }
            }
        }
        Poll::Ready(match &mut self.0 {
            State::Open(io) => Ok(Pin::new(io)),
            _ => Err(io::Error::new(ErrorKind::NotConnected, "the handshake has failed")),
        })
    }
}

impl<L> AsyncRead for AxumStream<L>
where
    L: Listener,
    L::Io: AsyncRead,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_read(cx, buf)
    }
}

impl<L> AsyncWrite for AxumStream<L>
where
    L: Listener,
    L::Io: AsyncWrite,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write_vectored(cx, bufs)
    }

    /// What the connection says, once there is one. hyper asks when it has read the first bytes.
    fn is_write_vectored(&self) -> bool {
        matches!(&self.0, State::Open(io) if io.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_shutdown(cx)
    }
}

impl<L> fmt::Debug for AxumStream<L>
where
    L: Listener,
    L::Io: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            State::Handshake(_) => f.write_str("AxumStream(in its handshake)"),
            State::Open(io) => f.debug_tuple("AxumStream").field(io).finish(),
            State::Failed => f.write_str("AxumStream(failed)"),
        }
    }
}
