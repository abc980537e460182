//! The I/O traits of the futures crates.

use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use super::direction::{Direction, implement, write_methods};
use super::socket::Socket;
use super::transfer::Stream;

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
            write_methods!(poll_close);
        }
    )*};
}

implement!(implement_read, implement_write);

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
