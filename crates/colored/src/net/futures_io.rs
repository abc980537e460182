//! The I/O traits of the futures crates.

use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use super::direction::Direction;
use super::socket::Socket;
use super::transfer::Stream;
use super::{TcpStream, tcp};
#[cfg(unix)]
use super::{UnixStream, unix};

macro_rules! implement_read {
    ($($type:ty),*) => {$(
        impl AsyncRead for $type {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                self.stream().poll_read_with(cx, buf.len(), |socket| socket.read(buf))
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                let room = bufs.iter().map(|buf| buf.len()).sum();
                self.stream().poll_read_with(cx, room, |socket| socket.read_vectored(bufs))
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

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::net::testing::{pair, run};

    #[test]
    fn the_futures_traits_read_what_they_write() {
        run(async {
            let (mut client, mut server) = pair().await;
            let n = poll_fn(|cx| AsyncWrite::poll_write(Pin::new(&mut client), cx, b"abcd")).await;
            assert_eq!(n.unwrap(), 4);
            poll_fn(|cx| AsyncWrite::poll_close(Pin::new(&mut client), cx)).await.unwrap();
            let mut got = [0; 8];
            for n in [4, 0] {
                let server = &mut server;
                let read = poll_fn(|cx| AsyncRead::poll_read(Pin::new(&mut *server), cx, &mut got));
                assert_eq!(read.await.unwrap(), n);
            }
            assert_eq!(&got[..4], b"abcd");
        });
    }
}
