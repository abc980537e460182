//! Reading and writing: tokio's traits and helpers, and what sockets are waited for.
//!
//! Everything here but [`Interest`] and [`Ready`] is a re-export. The traits are tokio's own, so
//! everything that is written against them works with our sockets: TLS, HTTP, codecs, compression.
//! None of this needs a tokio runtime, and none is started.
//!
//! The cooperative budget of tokio does not act here. Our sockets have one of their own: a task
//! that finds its sockets always ready yields to its color and its neighbours now and then. Pure
//! in-memory streams such as [`duplex`] do not count.

pub use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite,
    AsyncWriteExt, BufReader, BufStream, BufWriter, DuplexStream, Empty, Join, Lines, ReadBuf,
    ReadHalf, Repeat, SimplexStream, Sink, Split, Take, WriteHalf, copy, copy_bidirectional,
    copy_bidirectional_with_sizes, copy_buf, duplex, empty, join, repeat, simplex, sink, split,
};

pub use crate::driver::reactor::{Interest, Ready};
