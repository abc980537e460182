//! Child processes.
//!
//! A task waits for the end of a child as for any event: on Linux by a descriptor of the process, without a handler of
//! signals and without a thread; elsewhere, and where the system refuses that, by asking again each 1 to 20 ms. Pipes to a
//! child are files that wait for the reactor ([`fs::File`](crate::fs::File)).

mod child;
mod command;
mod stdio;

pub use self::child::Child;
pub use self::command::Command;
pub use self::stdio::{ChildStderr, ChildStdin, ChildStdout};
pub use std::process::{ExitStatus, Output, Stdio};
