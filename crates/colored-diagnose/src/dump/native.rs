//! The native stacks of workers.
//!
//! Unwinding inside a signal handler is not safe: the thread may hold any lock. So the handler only copies the registers and
//! the upper part of the stack of its thread, and the thread that makes the dump unwinds the copy, by the unwind tables in
//! the files that the process has mapped.

#[cfg(not(all(
    feature = "native-stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod absent;
#[cfg(all(
    feature = "native-stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod linux;

#[cfg(not(all(
    feature = "native-stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
use self::absent as system;
#[cfg(all(
    feature = "native-stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
use self::linux as system;

#[cfg(feature = "native-stacks")]
pub use self::system::install_stack_handler;
pub(super) use self::system::{Stacks, frames_at};

use std::fmt;

/// A function that a thread is in.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Frame {
    /// The address of the instruction, or of the end of the call, in the memory of the process.
    pub address: u64,
    /// The name of the function; none if the program has no symbol for the address.
    pub function: Option<String>,
    /// The file and the line, if the program has the debug information.
    pub place: Option<(String, u32)>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            Some(function) => f.write_str(function)?,
            None => write!(f, "{:#x}", self.address)?,
        }
        let Some((file, line)) = &self.place else { return Ok(()) };
        write!(f, " ({file}:{line})")
    }
}
