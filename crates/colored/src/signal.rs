//! Signals of the operating system.
//!
//! The handler of a signal writes a byte to a socket, and does nothing else; a task waits for the byte, under its color, as
//! for any other event. So a program handles a signal in ordinary code, one at a time if that has one color.
//!
//! Once a signal has been asked for, it no longer does what it usually does, such as ending the program, until the program
//! ends: also if all that waited for it are dropped.

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub use self::unix::{Signal, SignalKind, ctrl_c, signal};
