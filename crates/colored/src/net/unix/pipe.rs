//! Pipes: bytes that go one way, between tasks, threads or processes.
//!
//! [`pipe`] makes an anonymous pipe. [`OpenOptions`] opens a pipe that has a name in the file system, a FIFO, such as
//! `mkfifo` makes. An end that comes from elsewhere is taken over by [`Sender::from_owned_fd`] and
//! [`Receiver::from_owned_fd`].
//!
//! The ends wait by the reactor: no blocking thread is involved. They are in non-blocking mode; on Linux that mode belongs
//! to the open file, so other processes that have inherited the same end see it too. The pipes of a
//! [child](crate::process) and a [`File`](crate::fs::File) that is a pipe leave the mode as it is.
//!
//! Dropping the last [`Sender`] is the end of the stream; a write after the last [`Receiver`] is gone fails with
//! [`BrokenPipe`](std::io::ErrorKind::BrokenPipe). `shutdown` of a sender does nothing.
//!
//! # Examples
//!
//! A child gets one end of a pipe, and this program reads the other:
//!
//! ```
//! use colored::io::AsyncReadExt;
//! use colored::net::unix::pipe;
//! use colored::process::Command;
//!
//! # #[colored::main]
//! # async fn main() -> std::io::Result<()> {
//! let (sender, mut receiver) = pipe::pipe()?;
//! let status = Command::new("echo").arg("hello").stdout(sender.into_blocking_fd()?).status();
//! let mut text = String::new();
//! receiver.read_to_string(&mut text).await?;
//! assert!(text == "hello\n" && status.await?.success());
//! # Ok(())
//! # }
//! ```

mod end;
mod open;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use self::open::OpenOptions;
pub use self::receiver::Receiver;
pub use self::sender::Sender;

use std::io;
use std::os::fd::OwnedFd;

/// Makes a pipe, with an end to write to and an end to read from.
///
/// # Errors
///
/// When the system has no descriptors left or does not register them.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (reader, writer) = io::pipe()?;
    let sender = Sender::from_owned_fd_unchecked(OwnedFd::from(writer))?;
    Ok((sender, Receiver::from_owned_fd_unchecked(OwnedFd::from(reader))?))
}
