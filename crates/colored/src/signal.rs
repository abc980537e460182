//! Signals of the operating system.
//!
//! The handler of a signal writes a byte to a socket, and does nothing else; a task waits for the byte, under its color, as
//! for any other event. So a program handles a signal in ordinary code, one at a time if that has one color.
//!
//! Once a signal has been asked for, it no longer does what it usually does, such as ending the program, until the program
//! ends: also if all that waited for it are dropped.

#[cfg(unix)]
pub mod unix;

#[cfg(unix)]
use std::io;

/// Waits for Ctrl-C, from the first poll of this future on: for `SIGINT`.
///
/// Cancel safe. A signal that comes while no such future waits is forgotten; a [`Signal`](unix::Signal) remembers it.
///
/// # Errors
///
/// As [`unix::signal`].
///
/// # Panics
///
/// Outside a runtime.
///
/// # Examples
///
/// ```no_run
/// # async fn serve() {}
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// colored::select! {
///     () = serve() => {}
///     stopped = colored::signal::ctrl_c() => stopped?,
/// }
/// // Both have come to an end: the rest is what a graceful stop wants.
/// # Ok(())
/// # }
/// ```
#[cfg(unix)]
pub async fn ctrl_c() -> io::Result<()> {
    let mut interrupt = unix::signal(unix::SignalKind::interrupt())?;
    match interrupt.recv().await {
        Some(()) => Ok(()),
        None => Err(io::Error::other("the runtime has shut down")),
    }
}
