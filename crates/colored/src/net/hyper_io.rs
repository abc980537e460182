//! The I/O traits of hyper.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use super::direction::{Direction, implement, write_methods};
use super::transfer::Stream;
use super::uninit::read_cursor;

macro_rules! implement_read {
    ($($type:ty),*) => {$(
        impl Read for $type {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                mut buf: ReadBufCursor<'_>,
            ) -> Poll<io::Result<()>> {
                let room = buf.remaining();
                let read = |socket: &_| read_cursor(socket, &mut buf);
                self.stream().poll_read_with(cx, room, read).map_ok(|_| ())
            }
        }
    )*};
}

macro_rules! implement_write {
    ($($type:ty),*) => {$(
        impl Write for $type {
            write_methods!(poll_shutdown);

            fn is_write_vectored(&self) -> bool {
                true
            }
        }
    )*};
}

implement!(implement_read, implement_write);

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::mem::MaybeUninit;

    use hyper::rt::ReadBuf;

    use super::*;
    use crate::net::testing::{pair, run};

    #[test]
    fn hyper_reads_what_it_writes() {
        run(async {
            let (client, mut server) = pair().await;
            let (_read, mut write) = client.into_split();
            assert!(Write::is_write_vectored(&write));
            let parts = [IoSlice::new(b"ab"), IoSlice::new(b"cd")];
            let n =
                poll_fn(|cx| Write::poll_write_vectored(Pin::new(&mut write), cx, &parts)).await;
            assert_eq!(n.unwrap(), 4);
            poll_fn(|cx| Write::poll_shutdown(Pin::new(&mut write), cx)).await.unwrap();
            let mut memory = [MaybeUninit::uninit(); 8];
            let mut buf = ReadBuf::uninit(&mut memory);
            for _ in 0..2 {
                let server = &mut server;
                poll_fn(|cx| Read::poll_read(Pin::new(&mut *server), cx, buf.unfilled()))
                    .await
                    .unwrap();
            }
            assert_eq!(buf.filled(), b"abcd");
        });
    }
}
