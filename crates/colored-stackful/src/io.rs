//! Reading and writing as the standard library does it, by stackful tasks.
//!
//! | of | type |
//! |---|---|
//! | sockets | [`TcpStream`](crate::net::TcpStream), [`UnixStream`](crate::net::UnixStream) |
//! | pipes | [`PipeReader`] and [`PipeWriter`], on unix |
//! | everything that is `AsyncRead` or `AsyncWrite`: TLS, compression, files, children, memory | [`SyncIoBridge`] |
//!
//! # What an operation does
//!
//! It makes the system call first. Only if that would block, the task [waits](crate::wait()), as a future does at an
//! `.await`: its worker runs other tasks, and its color too. A read of bytes that are there is one system call, and no
//! switch of stacks. Each operation takes one unit of the budget of the poll, so a task whose streams are always ready
//! lets others run after 128 operations.
//!
//! # Where a task cannot wait
//!
//! A task that panics, or that is aborted, unwinds its stack, and cannot wait meanwhile. An operation of a destructor, such
//! as the flush of a `BufWriter`, then makes its system call, and returns an error if that would block. So does an operation
//! outside a stackful task, or inside the poll of a future. The error has a [`CannotWait`](crate::CannotWait).

pub use self::bridge::SyncIoBridge;
#[cfg(unix)]
pub use self::pipe::{PipeReader, PipeWriter, pipe};

mod bridge;
mod complete;
#[cfg(unix)]
mod pipe;
mod time_limit;
mod transfer;

pub(crate) use self::complete::complete;
pub(crate) use self::transfer::{Shared, read_methods, write_methods};
