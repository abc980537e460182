//! Connections, and their single directions, for the I/O traits of several crates.

/// A connection, or one direction of it.
pub(super) trait Direction {
    type Stream;

    fn stream(&self) -> &Self::Stream;
}

impl<D: Direction> Direction for &D {
    type Stream = D::Stream;

    fn stream(&self) -> &D::Stream {
        (**self).stream()
    }
}

/// Calls the macros `$read` and `$write` for each type that reads or writes.
macro_rules! implement {
    ($read:ident, $write:ident) => {
        $crate::net::direction::implement!($read, $write, $crate::net::TcpStream, $crate::net::tcp);
        #[cfg(unix)]
        $crate::net::direction::implement!(
            $read,
            $write,
            $crate::net::UnixStream,
            $crate::net::unix
        );
    };
    ($read:ident, $write:ident, $stream:path, $halves:path) => {
        const _: () = {
            use $halves::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
            use $stream as Connection;

            $read!(Connection, &Connection, ReadHalf<'_>, OwnedReadHalf);
            $write!(Connection, &Connection, WriteHalf<'_>, OwnedWriteHalf);
        };
    };
}

/// The methods that the traits for writing have in common; they have several names for the one that ends the direction.
macro_rules! write_methods {
    ($end:ident) => {
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

        fn $end(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(self.stream().end_writing())
        }
    };
}

pub(super) use {implement, write_methods};
