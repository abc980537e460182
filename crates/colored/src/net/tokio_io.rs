//! The I/O traits of tokio.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::direction::{Direction, implement, write_methods};
use super::transfer::Stream;
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
            write_methods!(poll_shutdown);

            fn is_write_vectored(&self) -> bool {
                true
            }
        }
    )*};
}

implement!(implement_read, implement_write);
