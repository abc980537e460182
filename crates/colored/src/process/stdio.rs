//! Pipes to a child.

use crate::fs::File;
use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

macro_rules! pipe {
    ($(#[$text:meta])* $name:ident) => {
        $(#[$text])*
        #[derive(Debug)]
        pub struct $name(File);

        impl $name {
            pub(super) fn new(pipe: impl Into<OwnedFd>) -> io::Result<Self> {
                File::from_std(std::fs::File::from(pipe.into())).map(Self)
            }

            /// The pipe as a file, for instance for a `Stdio` of another child, after its last operation. Not cancel
            /// safe: a dropped call closes the pipe.
            ///
            /// # Errors
            ///
            /// As [`File::into_std`].
            pub async fn into_std(self) -> io::Result<std::fs::File> {
                self.0.into_std().await
            }
        }
    };
}

macro_rules! reader {
    ($name:ident) => {
        impl AsyncRead for $name {
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                Pin::new(&mut self.0).poll_read(cx, buf)
            }
        }
    };
}

pipe! {
    /// The standard input of a child. Dropping it is the end of the child's input.
    ChildStdin
}
pipe! {
    /// The standard output of a child.
    ChildStdout
}
pipe! {
    /// The standard error of a child.
    ChildStderr
}
reader!(ChildStdout);
reader!(ChildStderr);

impl AsyncWrite for ChildStdin {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
