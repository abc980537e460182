//! Reading and writing: tokio's traits and helpers, the standard streams, and the readiness of sockets.
//!
//! The traits and the adapters are tokio's own, so libraries that use them work with our sockets: TLS, HTTP, codecs,
//! compression. None of this needs or starts a tokio runtime.
//!
//! tokio's cooperative budget has no effect here. Our sockets use the [budget](crate::task::consume_budget) of this runtime: a
//! task whose sockets are always ready yields to its color and to other colors now and then. So do the streams that never
//! wait, such as [`empty`] and [`repeat`], those in memory, such as [`duplex`], and the functions that copy: all are
//! [`Metered`]. Adapters such as [`BufReader`] use the budget of what they read.
//!
//! Errors are the system's own: `raw_os_error` is that of the standard library for the same failure. [`named`] and
//! [`named_call`] give the operation and its object in addition.

#[cfg(unix)]
mod async_fd;
mod copy;
#[cfg(unix)]
mod descriptor_color;
mod metered;
mod stdio;

#[cfg(unix)]
pub use self::async_fd::{AsyncFd, AsyncFdTryNewError};
pub use self::copy::{copy, copy_bidirectional, copy_bidirectional_with_sizes, copy_buf};
#[cfg(unix)]
pub use self::descriptor_color::descriptor_color;
pub use self::metered::{
    DuplexStream, Empty, Metered, Repeat, SimplexStream, Sink, duplex, empty, repeat, simplex, sink,
};
pub use self::stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
pub use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite,
    AsyncWriteExt, BufReader, BufStream, BufWriter, Chain, Join, Lines, ReadBuf, ReadHalf, Split,
    Take, WriteHalf, join, split,
};

#[doc(no_inline)]
pub use std::io::{Error, ErrorKind, Result, SeekFrom};

pub use crate::driver::reactor::{Interest, Ready};
pub use crate::error_context::{Named, NamedError, named, named_call};
