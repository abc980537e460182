//! Reading and writing: tokio's traits and helpers, the standard streams, and the readiness of sockets.
//!
//! Everything here but [`Interest`], [`Ready`], [`named`], `AsyncFd`, `descriptor_color` and the standard streams is a re-export.
//! The traits are tokio's own, so libraries that use them work with our sockets: TLS, HTTP, codecs, compression. None of
//! this needs or starts a tokio runtime.
//!
//! tokio's cooperative budget has no effect here. Our sockets use the budget of this runtime: a task
//! whose sockets are always ready yields to its color and to other colors now and then. In-memory
//! streams such as [`duplex`] do not consume the budget.
//!
//! Errors are the system's own: `raw_os_error` is that of the standard library for the same failure. [`named`] and
//! [`named_call`] give the operation and its object in addition.

#[cfg(unix)]
mod async_fd;
#[cfg(unix)]
mod descriptor_color;
mod stdio;

#[cfg(unix)]
pub use self::async_fd::{AsyncFd, AsyncFdTryNewError};
#[cfg(unix)]
pub use self::descriptor_color::descriptor_color;
pub use self::stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
pub use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite,
    AsyncWriteExt, BufReader, BufStream, BufWriter, Chain, DuplexStream, Empty, Join, Lines,
    ReadBuf, ReadHalf, Repeat, SimplexStream, Sink, Split, Take, WriteHalf, copy,
    copy_bidirectional, copy_bidirectional_with_sizes, copy_buf, duplex, empty, join, repeat,
    simplex, sink, split,
};

#[doc(no_inline)]
pub use std::io::{Error, ErrorKind, Result, SeekFrom};

pub use crate::driver::reactor::{Interest, Ready};
pub use crate::error_context::{Named, NamedError, named, named_call};
