//! There are no native stacks here.

use super::Frame;

/// There are none.
#[derive(Default)]
pub(in crate::dump) struct Stacks {}

impl Stacks {
    #[expect(clippy::unused_self, reason = "as where there are stacks")]
    pub(in crate::dump) fn of_thread(&self, _: u32) -> Option<Result<Vec<Frame>, &'static str>> {
        None
    }
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
