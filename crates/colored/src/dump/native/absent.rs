//! There are no native stacks here.

use super::Frame;

/// A worker has none.
pub(in crate::dump) type Stack = Result<Vec<Frame>, &'static str>;

pub(in crate::dump) fn of_thread(_: u32) -> Option<Stack> {
    None
}

/// On this system: an error.
///
/// # Errors
///
/// `Unsupported`.
#[cfg(feature = "native-stacks")]
pub fn install_stack_handler() -> std::io::Result<()> {
    let text = "native stacks are there on Linux, on x86-64 and aarch64";
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, text))
}
