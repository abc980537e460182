//! The I/O traits of tokio.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::direction::Direction;
use super::transfer::Stream;
use super::{TcpStream, tcp};
#[cfg(unix)]
use super::{UnixStream, unix};
use crate::io::{AsyncRead, AsyncWrite, ReadBuf};

macro_rules! implement_read {
    ($($type:ty),*) => {$(
        impl AsyncRead for $type {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.stream().poll_read_buf(cx, buf)
            }
        }
    )*};
}

macro_rules! implement_write {
    ($($type:ty),*) => {$(
        impl AsyncWrite for $type {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.stream().poll_write_buf(cx, buf)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.stream().poll_write_bufs(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(self.stream().end_writing())
            }
        }
    )*};
}

implement_read!(TcpStream, &TcpStream, tcp::ReadHalf<'_>, tcp::OwnedReadHalf);
#[cfg(unix)]
implement_read!(UnixStream, &UnixStream, unix::ReadHalf<'_>, unix::OwnedReadHalf);
implement_write!(TcpStream, &TcpStream, tcp::WriteHalf<'_>, tcp::OwnedWriteHalf);
#[cfg(unix)]
implement_write!(UnixStream, &UnixStream, unix::WriteHalf<'_>, unix::OwnedWriteHalf);
